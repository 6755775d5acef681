// A receiver of webhooks in Node: verifies each request, and lets each event take effect once.
// receiver.js PORT, with the secret (whsec_…) in the variable WEBHOOK_SECRET.
"use strict";

const http = require("http");

// [verify]
const crypto = require("crypto");

// `body` is a Buffer of the bytes as they came.
function isGenuine(headers, body, secret, tolerance = 300) {
  const stamp = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(stamp) || Math.abs(Date.now() / 1000 - Number(stamp)) > tolerance) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const hmac = crypto.createHmac("sha256", key);
  const wanted = hmac.update(`${headers["webhook-id"]}.${stamp}.`).update(body).digest();
  return (headers["webhook-signature"] ?? "")
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .map((each) => Buffer.from(each.slice(3), "base64"))
    .some((given) => given.length === wanted.length && crypto.timingSafeEqual(given, wanted));
}
// [/verify]

// Of this process alone; a real one keeps them where its effects are, for seven days.
const seen = new Set();

const server = http.createServer((request, answer) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.concat(parts);
    const genuine = isGenuine(request.headers, body, process.env.WEBHOOK_SECRET);
    const id = request.headers["webhook-id"];
    if (genuine && !seen.has(id)) {
      seen.add(id);
      console.log(body.toString());
    }
    answer.writeHead(genuine ? 200 : 401, { "Content-Length": 0 }).end();
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(server.address().port));
