#!/usr/bin/env python3
"""Places an order: shop.py DATABASE ORDER SKU QUANTITY. One transaction, four rows."""

import json
import sqlite3
import sys

database, order, sku, quantity = sys.argv[1:]
details = json.dumps({"orderId": order, "sku": sku, "quantity": int(quantity)})

db = sqlite3.connect(database, timeout=30)
with db:  # Commits, or rolls everything back.
    db.execute("CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, sku TEXT, quantity INTEGER)")
    db.execute("INSERT INTO orders VALUES (?, ?, ?)", (order, sku, quantity))
    for endpoint in ("Ordered", "OrderConfirmed", "PickList"):
        db.execute("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES (?, ?, ?)",
                   ("warehouse", endpoint, details))
print(f"ordered: {order}")
