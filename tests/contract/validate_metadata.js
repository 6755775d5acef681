// Holds the metadata on standard input against its published schema, and every schema in it against
// Ajv's strict mode: validate_metadata.js SCHEMA
const Ajv = require("ajv/dist/2020");
const formats = require("ajv-formats");
const fs = require("fs");

const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: true });
formats(ajv);
const validate = ajv.compile(JSON.parse(fs.readFileSync(process.argv[2], "utf8")));
const metadata = JSON.parse(fs.readFileSync(0, "utf8"));
if (!validate(metadata)) {
  console.error(ajv.errorsText(validate.errors));
  process.exit(1);
}
let schemas = 0;
for (const one of metadata.interfaces) {
  for (const message of one.messages) {
    for (const schema of [message.request, message.response]) {
      if (schema === null) continue;
      const strict = new Ajv({ strict: true });
      formats(strict);
      strict.compile(schema);
      schemas++;
    }
  }
}
console.log(schemas);
