#!/usr/bin/env python3
"""No secret and no payload is in a log, a metric, a diagnosis, an error text, or an answer to somebody
who may not see it. Two real nodes exchange messages that carry a canary through every outcome.

canary_test.py PROGRAM
"""

import base64
import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import unittest

from node import Node, eventually
from wire import Sender, envelope, sign

PROGRAM = sys.argv.pop(1)
PAYLOAD = "canary-payload-7f3a9c"
SECRET = b"canary-secret-51d0-51d0-51d0-51d"
FOREIGN = b"canary-foreign-90aa-90aa-90aa-90"
KEYS = {role: f"phk_canary-{role}-{base64.urlsafe_b64encode(os.urandom(18)).decode()}"
        for role in ("viewer", "operator")}
DOCUMENT = json.dumps({"sku": PAYLOAD, "n": PAYLOAD})
HEADERS = json.dumps({"x-token": PAYLOAD})


def base64_of(secret):
    return base64.b64encode(secret).decode()


class Canary(unittest.TestCase):
    def setUp(self):
        admin = ", ".join(
            f'{{ name = "{role}", role = "{role}", payloads = {str(role == "operator").lower()},'
            f' hash = "sha256:{hashlib.sha256(key.encode()).hexdigest()}" }}'
            for role, key in KEYS.items())
        secret = base64_of(SECRET)
        self.stock = Node(PROGRAM, "stock", f"""
level = "trace"
[secrets]
shop = "base64:{secret}"
[admin]
keys = [{admin}]
[handlers]
Take = "sql:INSERT INTO taken VALUES (:sku)"
Once = "sql:INSERT INTO once VALUES (:sku)"
Path = "sql:SELECT json_extract('{{}}', :sku)"
Web = "http://127.0.0.1:1/take?token={PAYLOAD}"
Queue = "queue"
""").init()
        self.stock.sql("CREATE TABLE taken (sku TEXT)")
        self.stock.sql("CREATE TABLE once (sku TEXT PRIMARY KEY CHECK (length(sku) < 5))")
        self.stock.start()
        self.shop = Node(PROGRAM, "shop", f"""
level = "trace"
[routes]
stock = "http://127.0.0.1:{self.stock.port}"
absent = "http://127.0.0.1:1"
[secrets]
stock = "base64:{secret}"
absent = "base64:{secret}"
[admin]
keys = [{admin}]
[outbox]
max_retries = 1
retry_delay_base = "10ms"
retry_delay_max = "10ms"
jitter_max = "1ms"
""").init()
        self.shop.start()

    def tearDown(self):
        for node in (self.shop, self.stock):
            node.kill()

    def ask(self, node, method, path, key=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", node.admin, timeout=120)
        connection.request(method, path, body,
                           {"Authorization": f"Bearer {key}"} if key else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def command(self, *words):
        run = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=240)
        self.assertNotEqual(run.stdout + run.stderr, "", words)
        return run.stdout + run.stderr

    def exchange(self):
        for destination, endpoint in (("stock", "Take"), ("stock", "Once"), ("stock", "Path"),
                                      ("stock", "Web"), ("stock", "Queue"), ("stock", "Nobody"),
                                      ("absent", "Take"), ("nowhere", "Take")):
            self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, headers)"
                          " VALUES (?, ?, ?, ?)", destination, endpoint, DOCUMENT, HEADERS)
        self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, created_at,"
                      " expires_at) VALUES ('absent', 'Late', ?, 1, 2)", DOCUMENT)
        ends = "SELECT count(*) FROM outbox_messages WHERE status <> 'Pending' OR last_error <> ''"
        self.assertTrue(eventually(lambda: self.shop.number(ends) == 9),
                        self.shop.sql("SELECT endpoint, status, last_error FROM outbox_messages"))

    def provoke(self):
        """What strangers get to read."""
        said = []
        peer = Sender(self.stock.port, "shop", "stock", SECRET)
        message = envelope("shop", "Take", {"sku": PAYLOAD})
        body = json.dumps(message).encode()
        good = sign(SECRET, "shop", "stock", "request", "/_rf/receive", body)
        wrong = sign(FOREIGN, "shop", "stock", "request", "/_rf/receive", body)
        said.append(peer.post("/_rf/receive", body, good))
        said.append(peer.send(message | {"payload": {"other": PAYLOAD}}))  # 409.
        self.assertEqual([one[0] for one in said], [200, 409])
        for text, headers in ((body, {}), (body, wrong), (body + PAYLOAD.encode(), good)):
            said.append(peer.post("/_rf/receive", text, headers))
            self.assertEqual(said[-1][0], 401)
        for text in (b'{"messageId":"' + PAYLOAD.encode(), b'["' + PAYLOAD.encode() + b'"]',
                     json.dumps(message | {"messageType": PAYLOAD}).encode(),
                     json.dumps(message | {"headers": {"rf-version": PAYLOAD}}).encode()):
            said.append(peer.post("/_rf/receive", text))
            self.assertEqual(said[-1][0], 400)
        peer.connection.close()
        return [str(one) for one in said]

    def look(self, node):
        """What operators without the right to payloads get to read, and who has no key at all."""
        said = []
        ids = [one for one, in node.sql("SELECT message_id FROM outbox_messages")]
        for path in ("/_rf/health", "/metrics", "/_rf/outbox/stats", "/_rf/outbox",
                     "/_rf/outbox/failed", "/_rf/outbox/lanes", "/_rf/inbox", "/_rf/inbox/stats",
                     "/_rf/dead", "/_rf/dead/groups", "/_rf/dead?status=Expired"):
            status, text = self.ask(node, "GET", path, KEYS["viewer"])
            self.assertEqual(status, 200, path)
            said += [text, *self.ask(node, "GET", path)[1:], *self.ask(node, "GET", path, "x")[1:]]
        for one in ids:
            for path in (f"/_rf/outbox/{one}", f"/_rf/dead/{one}"):
                status, text = self.ask(node, "GET", path, KEYS["viewer"])
                self.assertEqual(status, 200, text)
                refusal, why = self.ask(node, "GET", path + "?payload=true", KEYS["viewer"])
                self.assertEqual(refusal, 403, why)
                said += [text, why]
        at = ["--config", str(node.file)]
        for words in (["doctor"], ["doctor", "--json"], ["config", "show"],
                      ["config", "show", "--json"], ["stats"], ["outbox", "list"],
                      ["outbox", "lanes"], ["inbox", "list"], ["dead", "list"], ["dead", "groups"],
                      ["dead", "list", "--json"], ["keys", "list"],
                      *(["dead", "show", one] for one in ids)):
            said.append(self.command(*words, *at))
        said += [str(node.sql(f"SELECT * FROM {table}"))
                 for table in ("outbox_attempts", "outbox_causes", "posthorn_audit")]
        said += [str(node.sql("SELECT last_error FROM outbox_messages")), node.log_text()]
        return said

    def test_no_payload_and_no_secret_is_seen_by_whom_it_does_not_concern(self):
        self.exchange()
        said = self.provoke()
        # A configuration that is wrong is complained about without being quoted.
        good = self.shop.file.read_text()
        for line in (f'stock = "{base64_of(SECRET)}"', f'stock = ["base64:{base64_of(SECRET)}!"]'):
            self.shop.write(good.replace(f'stock = "base64:{base64_of(SECRET)}"', line))
            said.append(self.command("config", "show", "--config", str(self.shop.file)))
            self.shop.process.send_signal(signal.SIGHUP)
        self.shop.write(good)
        for node in (self.stock, self.shop):
            said += self.look(node)
        one, = self.shop.sql("SELECT message_id FROM outbox_messages LIMIT 1")[0]
        status, text = self.ask(self.shop, "GET", f"/_rf/outbox/{one}?payload=true", KEYS["operator"])
        self.assertIn(PAYLOAD, text)  # It does go through there: who may read it does.
        for node in (self.stock, self.shop):
            node.process.send_signal(signal.SIGTERM)
            node.process.wait(30)
            said.append(node.log_text())
        self.assertGreater(len(said), 100)
        hidden = [PAYLOAD, SECRET.decode(), base64_of(SECRET)[:16], FOREIGN.decode(),
                  base64_of(FOREIGN)[:16], *KEYS.values()]
        for text in said:
            for canary in hidden:
                self.assertFalse(canary in text, f"{canary} in: {text}")
        self.assertIn("HMAC verification failed", self.stock.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
