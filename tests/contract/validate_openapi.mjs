// validate_openapi.mjs NODE_MODULES: whether a document on the standard input is OpenAPI.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = `${process.argv[2]}/@seriousme/openapi-schema-validator`;
const { main, exports } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
const entry = main ?? (typeof exports === "string" ? exports : (exports["."].default ?? exports["."]));
const { Validator } = await import(pathToFileURL(`${folder}/${entry}`).href);

const found = await new Validator().validate(JSON.parse(readFileSync(0, "utf8")));
if (!found.valid) {
  console.log(JSON.stringify(found.errors, null, 1));
  process.exitCode = 1;
}
