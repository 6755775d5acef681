// A gRPC server that Posthorn did not write: hands each request to a receiver that speaks HTTP.
//   grpc_receiver.js PROTO HTTP_PORT [AUTHORITY CERTIFICATE KEY]
// Prints its port.
const fs = require("fs");
const http = require("http");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [proto, port, authority, certificate, key] = process.argv.slice(2);
const definition = grpc.loadPackageDefinition(loader.loadSync(proto, { bytes: Buffer, defaults: true }));

function receive(call, done) {
    const { path, headers, body, number } = call.request;
    const request = http.request(
        { port, host: "127.0.0.1", method: "POST", path, headers: { ...headers, "content-length": body.length } },
        (answer) => {
            const parts = [];
            answer.on("data", (part) => parts.push(part));
            answer.on("end", () => done(null, {
                number, status: answer.statusCode, body: Buffer.concat(parts),
                headers: Object.fromEntries(Object.entries(answer.headers).filter(
                    ([name]) => name.startsWith("rf-") || name === "content-type")),
            }));
        });
    request.on("error", (error) => done({ code: grpc.status.UNAVAILABLE, details: error.message }));
    request.end(body);
}

const server = new grpc.Server();
server.addService(definition.RFReceiver.service, { Receive: receive });
const credentials = authority
    ? grpc.ServerCredentials.createSsl(fs.readFileSync(authority),
          [{ private_key: fs.readFileSync(key), cert_chain: fs.readFileSync(certificate) }], true)
    : grpc.ServerCredentials.createInsecure();
server.bindAsync("127.0.0.1:0", credentials, (error, bound) => {
    if (error) throw error;
    console.log(bound);
});
