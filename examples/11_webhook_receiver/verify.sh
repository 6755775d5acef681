#!/usr/bin/env bash
# usage: verify.sh ID TIMESTAMP SIGNATURE SECRET < BODY
# Whether a webhook is genuine, with openssl; for looking into a request by hand. It does not compare
# in constant time, so it is not for a receiver.
set -euo pipefail
# [verify]
id=$1 stamp=$2 signature=$3 secret=$4
key=$(printf %s "${secret#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
wanted=$({ printf '%s.%s.' "$id" "$stamp"; cat; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
[[ " $signature " == *" v1,$wanted "* ]]
# [/verify]
