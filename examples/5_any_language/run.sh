#!/usr/bin/env bash
# usage: run.sh POSTHORN [FOLDER]
# Two services without C++, in FOLDER: places two orders and shows where they arrive.
set -euo pipefail
posthorn=$(realpath "$1") folder=${2:-$(mktemp -d)} here=$(realpath "$(dirname "$0")")
cp "$here"/*.toml "$folder"
cd "$folder"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

{ [ -e pair.keys ] || "$posthorn" keys new --out pair.keys
  "$posthorn" init --config shop.toml
  "$posthorn" init --config warehouse.toml; } > init.out
sqlite3 warehouse.db 'CREATE TABLE IF NOT EXISTS reservations (order_id TEXT, sku TEXT, quantity INTEGER)'

"$posthorn" serve --config shop.toml > shop.out &
"$posthorn" serve --config warehouse.toml > warehouse.out &
"$here/mailer.py" 7450 mails.txt &

"$here/shop.py" shop.db o1 tea 3
"$here/shop.py" shop.db o2 milk 1
# Until everything that was sent has arrived.
for _ in $(seq 300); do
    [ "$(sqlite3 shop.db "SELECT count(*) FROM outbox_messages WHERE status <> 'Sent'")" = 0 ] && break
    sleep 0.1
done
"$here/picker.sh" warehouse.db
"$here/picker.sh" warehouse.db

sqlite3 warehouse.db "SELECT 'reserved: ' || order_id || ' ' || sku || ' ' || quantity FROM reservations ORDER BY order_id"
sort mails.txt
sqlite3 warehouse.db "SELECT 'picked: ' || order_id FROM picked ORDER BY order_id"
