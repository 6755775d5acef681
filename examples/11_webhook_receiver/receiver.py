#!/usr/bin/env python3
"""A receiver of webhooks: verifies each request, and lets each event take effect once.

receiver.py PORT DATABASE, with the secret (whsec_…) in the variable WEBHOOK_SECRET.
"""

import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

# [verify]
import base64
import hashlib
import hmac
import time


def is_genuine(headers, body, secret, tolerance=300):
    """`body` is the bytes as they came: what was parsed and written again has another signature."""
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isdigit() or abs(time.time() - int(stamp)) > tolerance:
        return False
    signed = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = [each[3:].encode() for each in headers.get("webhook-signature", "").split() if each.startswith("v1,")]
    return any([hmac.compare_digest(wanted, each) for each in given])
# [/verify]


# [once]
KEPT_FOR = 7 * 86400


def key_of(headers):
    """What is the same for every attempt of a delivery; in the style outbox it has two parts."""
    if "X-Outbox-Subscription-Id" in headers:
        return f"{headers['X-Outbox-Message-Id']}:{headers['X-Outbox-Subscription-Id']}"
    return headers["webhook-id"]


def take_once(database, key, effect):
    """The effect and the record that it happened are one transaction."""
    with database:
        database.execute("DELETE FROM seen WHERE at < ?", (time.time() - KEPT_FOR,))
        new = database.execute("INSERT OR IGNORE INTO seen (key, at) VALUES (?, ?)", (key, time.time()))
        if new.rowcount:
            effect(database)
# [/once]


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = is_genuine(self.headers, body, os.environ["WEBHOOK_SECRET"])
        if genuine:
            take_once(self.server.database, key_of(self.headers),
                      lambda database: database.execute("INSERT INTO effects (body) VALUES (?)", (body.decode(),)))
        self.send_response(200 if genuine else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    server.database = sqlite3.connect(sys.argv[2], timeout=5)
    server.database.executescript("CREATE TABLE IF NOT EXISTS seen (key TEXT PRIMARY KEY, at REAL NOT NULL);"
                                  "CREATE TABLE IF NOT EXISTS effects (body TEXT NOT NULL);")
    print(server.server_port, flush=True)
    server.serve_forever()
