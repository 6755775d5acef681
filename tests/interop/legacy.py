"""A sender and a receiver that know no more than an older description of the wire.

It says: POST /_rf/receive with messageId, correlationId, sourceServiceId, messageType, endpoint, payload
and headers {rf-version, rf-timestamp, rf-hmac}; rf-hmac is base64 of HMAC-SHA256(shared secret, messageId +
sourceServiceId + endpoint + payload_hash); the answer has Acknowledged, DuplicateDetected, Payload and Error.
The standard library alone; nothing of Posthorn's own page.
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import sqlite3
import threading
import time
import uuid
from datetime import datetime, timezone


def encode(document):
    """With spaces between, which are no part of what is signed."""
    return json.dumps(document, ensure_ascii=False).encode()


def payload_hash(payload):
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def rf_hmac(secret, message):
    data = (message["messageId"] + message["sourceServiceId"] + message["endpoint"]
            + payload_hash(message["payload"]))
    return base64.b64encode(hmac.new(secret, data.encode(), hashlib.sha256).digest()).decode()


def signed(secret, source, endpoint, payload, created=None, **more):
    """A message, ready to be sent."""
    created = created or datetime.now(timezone.utc)
    message = {"messageId": str(uuid.uuid4()), "correlationId": None, "sourceServiceId": source,
               "messageType": "Signal", "endpoint": endpoint, "payload": payload} | more
    message["headers"] = {"rf-version": "2.0",
                          "rf-timestamp": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                          "rf-hmac": rf_hmac(secret, message)}
    return message


def workflow_signature(secret, body, seconds=None):
    """The header of the workflow description: a time, and HMAC-SHA256 over it and the body."""
    seconds = int(time.time()) if seconds is None else seconds
    text = f"{seconds}.".encode() + body
    return f"t={seconds},v1={hmac.new(secret, text, hashlib.sha256).hexdigest()}"


class LegacySender:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def send(self, message, headers=None, path="/_rf/receive"):
        body = message if isinstance(message, bytes) else encode(message)
        self.connection.request("POST", path, body,
                                {"content-type": "application/json"} | (headers or {}))
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def close(self):
        self.connection.close()


class LegacyReceiver:
    """The inbox of the description: a table, a handler that notes what came, one transaction."""

    def __init__(self, secret, database):
        self.secret, self.database = secret, database
        self.fail = 0           # How many are to be answered with 500.
        self.bodies = []        # What came, with its headers.
        with sqlite3.connect(database) as db:
            db.execute("CREATE TABLE inbox_messages (message_id TEXT PRIMARY KEY, response TEXT)")
            db.execute("CREATE TABLE effects (source TEXT, endpoint TEXT, payload TEXT)")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.bodies.append((self.headers, body))
                status, answer = outer.answer(self.path, self.headers, body)
                text = json.dumps(answer).encode() if answer is not None else b""
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, headers, body):
        if path != "/_rf/receive":
            return 404, None
        message = json.loads(body)
        if not hmac.compare_digest(rf_hmac(self.secret, message), message["headers"]["rf-hmac"]):
            return 401, {"Acknowledged": False, "Error": "bad signature"}
        return self.take(message)

    def take(self, message):
        if self.fail > 0:
            self.fail -= 1
            return 500, {"Acknowledged": False, "Error": "not today"}
        with sqlite3.connect(self.database) as db:
            try:
                db.execute("INSERT INTO inbox_messages VALUES (?, 'null')", (message["messageId"],))
            except sqlite3.IntegrityError:
                return 200, {"Acknowledged": True, "DuplicateDetected": True, "Payload": None}
            db.execute("INSERT INTO effects VALUES (?, ?, ?)",
                       (message["sourceServiceId"], message["endpoint"], json.dumps(message["payload"])))
        return 200, {"Acknowledged": True, "DuplicateDetected": False, "Payload": None}

    def effects(self):
        with sqlite3.connect(self.database) as db:
            return [(source, endpoint, json.loads(payload))
                    for source, endpoint, payload in db.execute("SELECT * FROM effects ORDER BY rowid")]
