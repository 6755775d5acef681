#!/usr/bin/env bash
# usage: run.sh EXAMPLE POSTHORN [FOLDER]
# Runs both services of the example in FOLDER: makes their secret, starts inventory, orders, stops.
set -euo pipefail
example=$(realpath "$1") posthorn=$(realpath "$2") folder=${3:-$(mktemp -d)}
cp "$(dirname "$0")"/*.toml "$folder"
cd "$folder"
[ -e pair.keys ] || "$posthorn" keys new --out pair.keys > keys.txt

"$example" inventory inventory.toml > inventory.out &
inventory=$!
trap 'kill $inventory 2>/dev/null || true' EXIT
"$example" shop shop.toml   # Waits for inventory by itself.
kill $inventory
wait $inventory
