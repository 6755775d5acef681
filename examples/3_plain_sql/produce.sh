#!/usr/bin/env bash
# usage: produce.sh DATABASE ORDER CENTS
# Places an order and sends a message about it, in one transaction, with nothing but sqlite3.
set -euo pipefail
sqlite3 -bail "$1" <<SQL
.timeout 5000
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, cents INTEGER);
INSERT INTO orders VALUES ('$2', $3);
INSERT INTO outbox_messages (destination, endpoint, payload)
VALUES ('billing', 'OrderPlaced', json_object('orderId', '$2', 'cents', $3));
COMMIT;
SQL
