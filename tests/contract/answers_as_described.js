// Holds answers of a node against its description: {"document", "answers": [{"method", "route", …}]}
// on the standard input. Objects are closed, though readers are told to expect more: a field that is
// not described is a fault.

const fs = require("node:fs");
const Ajv = require("ajv/dist/2020");
const formats = require("ajv-formats");

const { document, answers } = JSON.parse(fs.readFileSync(0, "utf8"));

/// The same with `allOf` and named schemas written out, so that objects can be closed.
function flat(schema) {
  if (schema.$ref) return flat(document.components.schemas[schema.$ref.split("/").pop()]);
  if (schema.anyOf) return { anyOf: schema.anyOf.map(flat) };
  if (schema.items) return { ...schema, items: flat(schema.items) };
  if (schema.allOf) {
    const parts = schema.allOf.map(flat);
    return {
      type: "object",
      properties: Object.assign({}, ...parts.map((each) => each.properties)),
      required: parts.flatMap((each) => each.required ?? []),
      additionalProperties: false,
    };
  }
  if (!schema.properties) return schema;
  const fields = Object.entries(schema.properties).map(([name, value]) => [name, flat(value)]);
  return { ...schema, properties: Object.fromEntries(fields), additionalProperties: false };
}

const ajv = formats(new Ajv({ strict: true, allowUnionTypes: true }));
let faults = 0;
for (const answer of answers) {
  const { responses } = document.paths[answer.route][answer.method];
  const described = responses[answer.status] ?? document.components.responses.Refusal;
  const media = described.content[answer.type];
  const check = media && ajv.compile(flat(media.schema));
  if (check?.(answer.type === "application/json" ? JSON.parse(answer.body) : answer.body)) continue;
  faults += 1;
  console.log(answer.method, answer.path, answer.status, answer.type, answer.body.slice(0, 400), check?.errors);
}
process.exitCode = faults === 0 ? 0 : 1;
