// Verifies a webhook's v1a signatures with Node's own Ed25519: prints for each whether it holds.
// Usage: verify_ed25519.js PUBLIC_KEY, with {headers, body} on the standard input; the body in base64.
const crypto = require("crypto");

const { headers, body } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const der = Buffer.concat([
    Buffer.from("302a300506032b6570032100", "hex"),
    Buffer.from(process.argv[2].replace(/^whpk_/, ""), "base64"),
]);
const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
const signed = Buffer.concat([
    Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`),
    Buffer.from(body, "base64"),
]);
const held = headers["webhook-signature"]
    .split(" ")
    .map((each) => each.startsWith("v1a,") && crypto.verify(null, signed, key, Buffer.from(each.slice(4), "base64")));
console.log(JSON.stringify(held));
