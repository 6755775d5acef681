#!/usr/bin/env bash
# usage: picker.sh DATABASE
# Takes one message of the queue PickList, does its own work and acknowledges, in one transaction.
set -euo pipefail
sqlite3 -bail "$1" <<'SQL'
.timeout 30000
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS picked (order_id TEXT, quantity INTEGER);
INSERT INTO picked SELECT payload ->> 'orderId', payload ->> 'quantity'
    FROM posthorn_queue WHERE endpoint = 'PickList' ORDER BY seq LIMIT 1;
DELETE FROM posthorn_queue WHERE seq =
    (SELECT seq FROM posthorn_queue WHERE endpoint = 'PickList' ORDER BY seq LIMIT 1);
COMMIT;
SQL
