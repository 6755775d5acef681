"""A sender and a receiver written from docs/reference/wire.md, with the standard library alone."""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import sqlite3
import threading
import uuid
from datetime import datetime, timedelta, timezone

SIGNED_HEADERS = ("rf-scheme", "rf-key", "rf-source", "rf-destination", "rf-timestamp", "rf-hmac")


def key_id(secret):
    return hmac.new(secret, b"posthorn-key-id", hashlib.sha256).digest()[:8].hex()


def now(offset=timedelta()):
    moment = datetime.now(timezone.utc) + offset
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def signed_text(headers, direction, path, content_type, body, request_hmac=None, status=None):
    fields = [headers["rf-key"], direction, headers["rf-source"], headers["rf-destination"], path,
              headers["rf-timestamp"], content_type, hashlib.sha256(body).hexdigest()]
    if direction == "answer":
        fields += [request_hmac, str(status)]
    encoded = (field.encode() for field in fields)
    return b"posthorn-v2\n" + b"".join(b"%d:%s," % (len(field), field) for field in encoded)


def sign(secret, source, destination, direction, path, body, *, timestamp=None,
         content_type="application/json", request_hmac=None, status=None):
    headers = {"rf-scheme": "v2", "rf-key": key_id(secret), "rf-source": source,
               "rf-destination": destination, "rf-timestamp": timestamp or now()}
    text = signed_text(headers, direction, path, content_type, body, request_hmac, status)
    headers["rf-hmac"] = base64.b64encode(hmac.new(secret, text, hashlib.sha256).digest()).decode()
    return headers


def is_signed(secret, headers, source, destination, direction, path, body, content_type,
              request_hmac=None, status=None):
    claimed = {name: headers.get(name, "") for name in SIGNED_HEADERS}
    if (claimed["rf-scheme"], claimed["rf-key"]) != ("v2", key_id(secret)):
        return False
    if (claimed["rf-source"], claimed["rf-destination"]) != (source, destination):
        return False
    sent = datetime.fromisoformat(claimed["rf-timestamp"].replace("Z", "+00:00"))
    if abs(datetime.now(timezone.utc) - sent) > timedelta(minutes=5):
        return False
    text = signed_text(claimed, direction, path, content_type, body, request_hmac, status)
    right = base64.b64encode(hmac.new(secret, text, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(right, claimed["rf-hmac"])


def envelope(source, endpoint, payload, **more):
    return {"messageId": str(uuid.uuid4()), "correlationId": None, "sourceServiceId": source,
            "messageType": "Signal", "endpoint": endpoint, "payload": payload,
            "headers": {"rf-version": "2.0", "rf-timestamp": now()}} | more


class Sender:
    """Sends to one Posthorn, and believes only what it signs."""

    def __init__(self, port, source, destination, secret):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.source, self.destination, self.secret = source, destination, secret

    def post(self, path, document, headers=None):
        """Status, answer and whether the answer is signed."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        if headers is None:
            headers = sign(self.secret, self.source, self.destination, "request", path, body)
        self.connection.request("POST", path, body, headers | {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        signed = is_signed(self.secret, answer.headers, self.destination, self.source, "answer",
                           path, text, answer.headers.get("content-type", ""),
                           headers.get("rf-hmac"), answer.status)
        return answer.status, json.loads(text or b"null"), signed

    def send(self, message):
        return self.post("/_rf/receive", message)

    def send_batch(self, messages):
        return self.post("/_rf/receive-batch", {"messages": messages})


class Receiver:
    """Takes single messages in, each once by its id, in a SQLite file of its own."""

    def __init__(self, service, secrets, database):
        self.service, self.secrets, self.database = service, secrets, database
        self.lose_answers = 0  # How many answers to drop after the effect.
        self.forge = False     # Answer 200 without a signature and without an effect.
        self.paths = []
        with sqlite3.connect(database) as db:
            db.execute("CREATE TABLE inbox (source TEXT, id TEXT, answer TEXT, UNIQUE (source, id))")
            db.execute("CREATE TABLE effects (endpoint TEXT, payload TEXT)")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.paths.append(self.path)
                outer.answer(self, body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request, body):
        if request.path != "/_rf/receive":  # This one knows no batches.
            return self.reply(request, 404, b"")
        if self.forge:
            return self.reply(request, 200, b'{"acknowledged":true}')
        source = request.headers.get("rf-source", "")
        secret = self.secrets.get(source)
        if secret is None or not is_signed(secret, request.headers, source, self.service, "request",
                                           request.path, body, request.headers["content-type"]):
            return self.reply(request, 401, b'{"code":"bad_signature"}')
        message = json.loads(body)
        text = json.dumps(self.take(source, message)).encode()
        if self.lose_answers > 0:
            self.lose_answers -= 1
            request.close_connection = True
            return request.connection.close()
        self.reply(request, 200, text, sign(secret, self.service, source, "answer", request.path,
                                            text, request_hmac=request.headers["rf-hmac"],
                                            status=200))

    def take(self, source, message):
        assert message["sourceServiceId"] == source
        with sqlite3.connect(self.database) as db:
            try:
                db.execute("INSERT INTO inbox VALUES (?, ?, 'null')", (source, message["messageId"]))
            except sqlite3.IntegrityError:
                return {"acknowledged": True, "duplicateDetected": True, "payload": None}
            db.execute("INSERT INTO effects VALUES (?, ?)",
                       (message["endpoint"], json.dumps(message["payload"])))
        return {"acknowledged": True, "duplicateDetected": False, "payload": None}

    def reply(self, request, status, body, headers=None):
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def effects(self):
        with sqlite3.connect(self.database) as db:
            return [(endpoint, json.loads(payload))
                    for endpoint, payload in db.execute("SELECT * FROM effects")]
