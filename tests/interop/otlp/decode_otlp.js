// Reads {kind: "traces" | "metrics", bodies: [base64]} and prints what OpenTelemetry's own decoder makes of
// each, as JSON. A body that it cannot read ends it.
const root = require("@opentelemetry/otlp-transformer/build/src/generated/root");
const collector = root.opentelemetry.proto.collector;

const types = {
  traces: collector.trace.v1.ExportTraceServiceRequest,
  metrics: collector.metrics.v1.ExportMetricsServiceRequest,
};

const wish = JSON.parse(require("fs").readFileSync(0, "utf8"));
const type = types[wish.kind];
const read = wish.bodies.map((body) => {
  const bytes = Buffer.from(body, "base64");
  const message = type.decode(bytes);
  // What it makes of its own object again has as many bytes: no field was passed over.
  const again = type.encode(message).finish().length;
  return {
    ...type.toObject(message, { bytes: String, longs: String, enums: String }),
    bytesRead: bytes.length,
    bytesAgain: again,
  };
});
process.stdout.write(JSON.stringify(read));
