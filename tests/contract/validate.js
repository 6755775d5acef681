// Holds the samples that come on standard input against their schemas: good ones must fit, bad ones
// must not. The schemas themselves must be such that Ajv's strict mode has nothing to say.
const Ajv = require("ajv/dist/2020");
const formats = require("ajv-formats");

let failures = 0;
function complain(text) {
  if (++failures <= 10) console.error(text);
}

let good = 0;
let bad = 0;
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
for (const line of lines) {
  const sample = JSON.parse(line);
  const ajv = new Ajv({ strict: true, allErrors: true });
  formats(ajv);
  const validate = ajv.compile(sample.schema);
  for (const one of sample.good) {
    good++;
    if (!validate(one)) {
      complain(`refused: ${JSON.stringify(one)}\n  ${ajv.errorsText(validate.errors)}`);
    }
  }
  for (const one of sample.bad) {
    bad++;
    if (validate(one)) complain(`taken: ${JSON.stringify(one)}`);
  }
}
if (good < 500 || bad < 10) complain(`too few samples: ${good} good, ${bad} bad`);
console.log(`${lines.length} schemas, ${good} good and ${bad} bad messages`);
process.exit(failures === 0 ? 0 : 1);
