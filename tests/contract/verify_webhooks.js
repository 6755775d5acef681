// Verifies the webhooks that contract_webhooks prints, with libraries that Posthorn did not write:
// standardwebhooks and svix for v1, Node's own Ed25519 for v1a, its HMAC for the outbox's style.
const assert = require("assert");
const crypto = require("crypto");
const standard = require("standardwebhooks");
const svix = require("svix");

const wrong = "whsec_" + Buffer.alloc(32, 7).toString("base64");
const libraries = { standardwebhooks: standard.Webhook, svix: svix.Webhook };

function signatures(headers, version) {
    return headers["webhook-signature"]
        .split(" ")
        .filter((each) => each.startsWith(version + ","))
        .map((each) => Buffer.from(each.slice(version.length + 1), "base64"));
}

function withV1(sample) {
    let verified = 0;
    for (const [name, Webhook] of Object.entries(libraries)) {
        for (const secret of sample.secrets) {
            const webhook = new Webhook(secret);
            assert.deepStrictEqual(webhook.verify(sample.body, sample.headers), JSON.parse(sample.body), name);
            assert.throws(() => webhook.verify(sample.body + " ", sample.headers), name);
            const later = String(Number(sample.headers["webhook-timestamp"]) + 1);
            assert.throws(() => webhook.verify(sample.body, { ...sample.headers, "webhook-timestamp": later }), name);
            assert.throws(() => webhook.verify(sample.body, { ...sample.headers, "webhook-id": "other" }), name);
            verified++;
        }
        assert.throws(() => new Webhook(wrong).verify(sample.body, sample.headers), name);
    }
    return verified;
}

function withV1a(sample) {
    if (sample.publicKey === "") {
        assert.strictEqual(signatures(sample.headers, "v1a").length, 0);
        return 0;
    }
    assert(sample.publicKey.startsWith("whpk_"));
    const der = Buffer.concat([
        Buffer.from("302a300506032b6570032100", "hex"),
        Buffer.from(sample.publicKey.slice(5), "base64"),
    ]);
    const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
    const id = sample.headers["webhook-id"];
    const time = sample.headers["webhook-timestamp"];
    const found = signatures(sample.headers, "v1a");
    assert.strictEqual(found.length, 1);
    assert(crypto.verify(null, Buffer.from(`${id}.${time}.${sample.body}`), key, found[0]));
    assert(!crypto.verify(null, Buffer.from(`${id}.${time}.${sample.body} `), key, found[0]));
    return 1;
}

function withOutboxStyle(sample) {
    const expected = "sha256=" + crypto.createHmac("sha256", sample.outboxSecret).update(sample.body).digest("hex");
    assert(crypto.timingSafeEqual(Buffer.from(expected), Buffer.from(sample.headers["x-outbox-signature"])));
    return 1;
}

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => (text += piece));
process.stdin.on("end", () => {
    const samples = text.trim().split("\n").map((line) => JSON.parse(line));
    const count = { v1: 0, v1a: 0, outbox: 0 };
    for (const sample of samples) {
        count.v1 += withV1(sample);
        count.v1a += withV1a(sample);
        count.outbox += withOutboxStyle(sample);
    }
    assert(samples.length >= 8 && count.v1 >= 16 && count.v1a >= 2, JSON.stringify(count));
    console.log(`ok: ${samples.length} webhooks, ${JSON.stringify(count)}`);
});
