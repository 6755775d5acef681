#!/usr/bin/env bash
# usage: run.sh POSTHORN [FOLDER]
# A site and its centre, in FOLDER: the centre is out while the site works, and nothing is missing
# when it is back.
set -euo pipefail
posthorn=$(realpath "$1") folder=${2:-$(mktemp -d)} here=$(realpath "$(dirname "$0")")
cp "$here"/*.toml "$folder"
cd "$folder"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

{ [ -e pair.keys ] || "$posthorn" keys new --out pair.keys
  "$posthorn" init --config site.toml
  "$posthorn" init --config centre.toml; } > init.out
sqlite3 hq.db 'CREATE TABLE IF NOT EXISTS orders (text TEXT)'
sqlite3 historian.db 'CREATE TABLE IF NOT EXISTS readings (id TEXT PRIMARY KEY, value TEXT)'

# Asks until the answer is the one that is waited for.
until_is() {
    for _ in $(seq 600); do
        [ "$(sqlite3 -cmd '.timeout 5000' "$1" "$2")" = "$3" ] && return
        sleep 0.1
    done
    echo "never: $2" >&2 && exit 1
}
# Work for a target, as any program may store it: 0 is a call, 1 a notification, 2 a write.
hold() { sqlite3 plant7.db "PRAGMA busy_timeout = 5000; INSERT INTO sf_messages (category, target, payload_json) VALUES ($1, '$2', '$3')" > /dev/null; }

"$posthorn" serve --config site.toml > site.out &
hold 1 operators '{"Subject":"the press is hot"}'
hold 0 orders '{"order":17}'
hold 2 historian '{"temperature":81}'
until_is plant7.db "SELECT count(*) FROM OperationTracking WHERE Status = 'Delivered'" 1
echo "the centre is out: $(sqlite3 plant7.db 'SELECT count(*) FROM sf_messages') held, $(sqlite3 historian.db 'SELECT count(*) FROM readings') reading written"

"$posthorn" serve --config centre.toml > centre.out &
until_is plant7.db 'SELECT count(*) FROM sf_messages' 0
until_is hq.db "SELECT count(*) FROM SiteCalls WHERE Status = 'Delivered'" 2
echo "the centre is back: $(sqlite3 plant7.db 'SELECT count(*) FROM sf_messages') held"
sqlite3 hq.db "SELECT 'notification from ' || SourceSiteId || ': ' || json_extract(PayloadJson, '\$.Subject') FROM Notifications"
sqlite3 hq.db "SELECT 'order: ' || text FROM orders"
sqlite3 hq.db "SELECT Kind || ' of ' || SourceSite || ': ' || Status FROM SiteCalls ORDER BY Kind"
