// A gRPC client that Posthorn did not write. Reads from standard input what to do, as JSON:
//   { address, proto, tls: { authority, certificate, key }?, deadline?: MS,
//     calls: [{ kind: "receive" | "stream" | "health" | "services" | "reflected", requests, … }] }
// and prints an array with what came of each call. Bodies are base64.
const fs = require("fs");
const path = require("path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const wish = JSON.parse(fs.readFileSync(0, "utf8"));
const options = { keepCase: true, longs: String, enums: String, bytes: Buffer, defaults: true };
const file = (name) => (name ? fs.readFileSync(name) : null);
const credentials = wish.tls
    ? grpc.credentials.createSsl(file(wish.tls.authority), file(wish.tls.key), file(wish.tls.certificate))
    : grpc.credentials.createInsecure();
const load = (name) => grpc.loadPackageDefinition(loader.loadSync(name, options));
const here = (name) => path.join(__dirname, name);
const limits = { "grpc.max_send_message_length": -1 };
const connect = (service) => new service(wish.address, credentials, limits);
const deadline = () => ({ deadline: Date.now() + (wish.deadline ?? 20000) });

const encode = (one) => ({ ...one, body: Buffer.from(one.body ?? "", "base64") });
const show = (reply) => ({ ...reply, body: reply.body.toString("base64") });
const failed = (error) => ({ failed: error.code, why: error.details });

function receive(client, one) {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(one.metadata ?? {})) metadata.set(name, value);
    return new Promise((resolve) => {
        let trailers = {};
        const call = client.Receive(encode(one), metadata, deadline(), (error, reply) =>
            // The status, which carries the trailers, comes after the answer.
            setImmediate(() => resolve(error ? failed(error) : { ...show(reply), trailers })));
        call.on("status", (status) => { trailers = status.metadata.getMap(); });
    });
}

/// Writes all that is asked for and, unless told otherwise, says that this is all.
function stream(client, call) {
    return new Promise((resolve) => {
        const replies = [];
        const calls = client.ReceiveStream(deadline());
        calls.on("data", (reply) => {
            replies.push(show(reply));
            if (call.end_after === replies.length) calls.end();
        });
        calls.on("error", (error) => resolve({ replies, ...failed(error) }));
        calls.on("end", () => resolve({ replies }));
        for (const one of call.requests) calls.write(encode(one));
        if (!call.end_after) calls.end();
    });
}

function reflect(question) {
    const service = load(here("reflection.proto")).grpc.reflection.v1alpha.ServerReflection;
    return new Promise((resolve, reject) => {
        const call = connect(service).ServerReflectionInfo(deadline());
        call.on("data", (answer) => { resolve(answer); call.end(); });
        call.on("error", reject);
        call.write(question);
    });
}

/// A client made from nothing but what the server tells about itself.
async function reflected() {
    const answer = await reflect({ file_containing_symbol: "RFReceiver" });
    const set = [];
    for (const one of answer.file_descriptor_response.file_descriptor_proto) {
        const length = [];
        for (let left = one.length; ; left >>>= 7) {
            length.push(left > 127 ? (left & 127) | 128 : left);
            if (left <= 127) break;
        }
        set.push(Buffer.from([10, ...length]), one);
    }
    const definition = loader.loadFileDescriptorSetFromBuffer(Buffer.concat(set), options);
    return connect(grpc.loadPackageDefinition(definition).RFReceiver);
}

const kinds = {
    receive: async (call) => {
        const client = connect(load(wish.proto).RFReceiver);
        return Promise.all(call.requests.map((one) => receive(client, one)));
    },
    stream: (call) => stream(connect(load(wish.proto).RFReceiver), call),
    reflected: async (call) => {
        const client = await reflected();
        // This library takes a map that it was told of so for what it is on the wire: pairs.
        const pairs = (map) => Object.entries(map).map(([key, value]) => ({ key, value }));
        return Promise.all(call.requests.map((one) => receive(client, { ...one, headers: pairs(one.headers) })));
    },
    services: async () => (await reflect({ list_services: "" })).list_services_response.service.map((one) => one.name),
    health: (call) => new Promise((resolve) => {
        const client = connect(load(here("health.proto")).grpc.health.v1.Health);
        client.Check({ service: call.service ?? "" }, deadline(), (error, answer) =>
            resolve(error ? failed(error) : answer.status));
    }),
};

(async () => {
    const results = [];
    for (const call of wish.calls) {
        try {
            results.push(await kinds[call.kind](call));
        } catch (error) {
            results.push(failed(error));
        }
    }
    fs.writeSync(1, JSON.stringify(results));
    process.exit(0);
})();
