#!/bin/sh
# Sends one message with curl and openssl, as docs/reference/wire.md says; prints the answer.
# send.sh PORT SOURCE DESTINATION SECRET_IN_BASE64 ENDPOINT PAYLOAD [MESSAGE_ID]
set -eu
port=$1 source=$2 destination=$3 endpoint=$5 payload=$6
id=${7:-$(cat /proc/sys/kernel/random/uuid)}
path=/_rf/receive
secret=$(printf %s "$4" | base64 -d | od -An -v -tx1 | tr -d ' \n')

hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$secret" "$@"; }
netstring() { printf '%s:%s,' "$(printf %s "$1" | wc -c)" "$1"; }

key=$(printf %s posthorn-key-id | hmac | sed 's/.* //' | cut -c1-16)
time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
body=$(printf '{"messageId":"%s","sourceServiceId":"%s","messageType":"Signal","endpoint":"%s","payload":%s}' \
    "$id" "$source" "$endpoint" "$payload")
digest=$(printf %s "$body" | openssl dgst -sha256 | sed 's/.* //')
signature=$( { printf 'posthorn-v2\n'
    for field in "$key" request "$source" "$destination" "$path" "$time" application/json "$digest"; do
        netstring "$field"
    done; } | hmac -binary | base64)

curl --silent --show-error --max-time 30 "http://127.0.0.1:$port$path" \
    -H 'content-type: application/json' -H 'rf-scheme: v2' -H "rf-key: $key" -H "rf-source: $source" \
    -H "rf-destination: $destination" -H "rf-timestamp: $time" -H "rf-hmac: $signature" --data-binary "$body"
