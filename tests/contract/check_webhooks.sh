#!/usr/bin/env bash
# usage: check_webhooks.sh WEBHOOKS_PROGRAM NODE_MODULES
# Has webhooks that the program signs verified by libraries from npm.
set -euo pipefail
webhooks=$1 modules=$2
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$modules/standardwebhooks" ] || { echo "the verifiers are not installed in $modules; ./test does that"; exit 1; }
"$webhooks" "$(date +%s)" | NODE_PATH=$modules node "$here/verify_webhooks.js"
