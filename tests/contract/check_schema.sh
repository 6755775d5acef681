#!/usr/bin/env bash
# usage: check_schema.sh SAMPLES_PROGRAM NODE_MODULES
# Holds what the program prints against its schemas, with a validator from npm.
set -euo pipefail
samples=$1 modules=$2
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$modules/ajv" ] || { echo "the validator is not installed in $modules; ./test does that"; exit 1; }
"$samples" | NODE_PATH=$modules node "$here/validate.js"
