#!/usr/bin/env python3
"""The receivers of examples/11_webhook_receiver, and with them the snippets of the docs, against a real node.

webhook_receivers_test.py PROGRAM VERIFY_PROGRAM SHOP_PROGRAM [WebhookReceivers.test_…]
"""

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from node import Node, eventually
from webhook_receiver import AnsweringReceiver

PROGRAM, VERIFY, SHOP = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
EXAMPLE = Path(__file__).parents[2] / "examples" / "11_webhook_receiver"
SETTINGS = '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
OTHER = "whsec_" + "A" * 43 + "="


class WebhookReceivers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.node = Node(PROGRAM, "shop", SETTINGS).init().start()
        self.addCleanup(self.node.kill)

    def command(self, *words):
        done = subprocess.run([PROGRAM, "webhooks", *words, "--config", self.node.file, "--json"],
                              capture_output=True, text=True, env=self.node.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def publish(self, payload='{"amount":12.10,"by":"Zo\u00eb"}'):
        return self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload)"
                             " VALUES ('webhooks', 'order.paid', ?) RETURNING message_id", payload)[0][0]

    def kept_request(self):
        """What the node sends, as one who cannot verify it has it, and the secret."""
        reader = AnsweringReceiver(200, "")
        self.addCleanup(reader.close)
        secret = self.command("add", "--to", reader.url)["secret"]
        self.publish()
        self.assertTrue(eventually(lambda: reader.requests), self.node.log_text()[-3000:])
        return reader.requests[0], secret

    def start_receiver(self, secret, *words):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True,
                                   env=os.environ | {"WEBHOOK_SECRET": secret})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, int(process.stdout.readline())

    def post(self, port, request, **changed):
        headers = {name: value for name, value in request["headers"].items()
                   if name.lower().startswith("webhook-")} | changed.get("headers", {})
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("POST", "/", changed.get("body", request["body"]).encode(), headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def is_strict(self, port, request):
        """Takes what is genuine, the same once more, and nothing else."""
        for _ in range(2):
            self.assertEqual(self.post(port, request), 200)
        stamp = int(request["headers"]["webhook-timestamp"])
        for changed in ({"body": request["body"] + " "}, {"headers": {"webhook-id": "other"}},
                        {"headers": {"webhook-timestamp": str(stamp + 1)}},
                        {"headers": {"webhook-timestamp": str(stamp - 1000)}},
                        {"headers": {"webhook-timestamp": "soon"}}, {"headers": {"webhook-signature": ""}},
                        {"headers": {"webhook-signature": "v1,"}}, {"headers": {"webhook-signature": "v1,AAAA"}}):
            self.assertEqual(self.post(port, request, **changed), 401, changed)

    def test_the_one_in_python_takes_what_a_node_sends_and_each_event_once(self):
        request, secret = self.kept_request()
        database = os.path.join(self.folder.name, "receiver.db")
        words = (sys.executable, str(EXAMPLE / "receiver.py"), "0", database)
        process, port = self.start_receiver(secret, *words)
        self.is_strict(port, request)
        effects = lambda: [body for body, in sqlite3.connect(database).execute("SELECT body FROM effects")]
        self.assertEqual(effects(), [request["body"]])
        process.kill()
        process.wait()
        _, port = self.start_receiver(secret, *words)  # It remembers.
        self.assertEqual(self.post(port, request), 200)
        self.assertEqual(len(effects()), 1)
        _, other = self.start_receiver(OTHER, *words[:-1], ":memory:")
        self.assertEqual(self.post(other, request), 401)
        # From end to end, during a rotation too.
        mine = self.command("add", "--to", f"http://127.0.0.1:{port}/hook", "--secret", secret,
                            "--style", "both")
        self.command("rotate", mine["id"])
        event = self.publish('{"amount":1}')
        self.assertTrue(eventually(lambda: len(effects()) == 2), self.node.log_text()[-3000:])
        keys = [key for key, in sqlite3.connect(database).execute("SELECT key FROM seen ORDER BY at")]
        self.assertEqual(keys, [request["headers"]["webhook-id"], f"{event}:{mine['id']}"])
        sent = "SELECT count(*) FROM outbox_messages WHERE parent_id = ? AND status = 'Sent'"
        self.assertTrue(eventually(lambda: self.node.number(sent, event) == 2))

    def test_the_one_in_node_takes_what_a_node_sends_and_each_event_once(self):
        request, secret = self.kept_request()
        process, port = self.start_receiver(secret, "node", str(EXAMPLE / "receiver.js"), "0")
        self.is_strict(port, request)
        self.assertEqual(process.stdout.readline().strip(), request["body"])
        _, other = self.start_receiver(OTHER, "node", str(EXAMPLE / "receiver.js"), "0")
        self.assertEqual(self.post(other, request), 401)

    def verifies(self, program, request, secret, *more, body=None, **changed):
        headers = request["headers"] | changed
        words = [program, headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], secret]
        done = subprocess.run([*words, *more], input=(body or request["body"]).encode(), capture_output=True)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode == 0

    def test_the_ones_in_cpp_and_with_openssl_verify_what_a_node_sends(self):
        request, secret = self.kept_request()
        stamp = request["headers"]["webhook-timestamp"]
        for program, more in ((VERIFY, [stamp]), (str(EXAMPLE / "verify.sh"), [])):
            self.assertTrue(self.verifies(program, request, secret, *more))
            both = "v1,AAAA " + request["headers"]["webhook-signature"]
            self.assertTrue(self.verifies(program, request, secret, *more, **{"webhook-signature": both}))
            self.assertFalse(self.verifies(program, request, OTHER, *more))
            self.assertFalse(self.verifies(program, request, secret, *more, body=request["body"] + " "))
            self.assertFalse(self.verifies(program, request, secret, *more, **{"webhook-id": "other"}))
            self.assertFalse(self.verifies(program, request, secret, *more, **{"webhook-signature": "v1,AAAA"}))
        self.assertFalse(self.verifies(VERIFY, request, secret, str(int(stamp) + 301)))

    def test_the_sample_application_tells_it_of_each_order_once_and_in_order(self):
        database, settings = (os.path.join(self.folder.name, name) for name in ("receiver.db", "shop.toml"))
        _, port = self.start_receiver(OTHER, sys.executable, str(EXAMPLE / "receiver.py"), "0", database)
        shop = os.path.join(self.folder.name, "shop.db")
        Path(settings).write_text((EXAMPLE / "shop.toml").read_text().replace("sqlite:shop.db", f"sqlite:{shop}"))
        process = subprocess.Popen([SHOP, settings, f"http://127.0.0.1:{port}/hook"], stdout=subprocess.PIPE,
                                   text=True, env=os.environ | {"WEBHOOK_SECRET": OTHER})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "3 orders paid; Ctrl-C ends\n")
        effects = lambda: [json.loads(body) for body, in
                           sqlite3.connect(database).execute("SELECT body FROM effects")]
        self.assertTrue(eventually(lambda: len(effects()) == 3))
        process.terminate()
        self.assertEqual(process.wait(30), 0)
        self.assertEqual([(each["type"], each["data"]) for each in effects()],
                         [("order.paid", {"cents": 1210 * number}) for number in (1, 2, 3)])
        events = sqlite3.connect(shop).execute("SELECT TenantId, UserId FROM OutboxMessages WHERE Payload <> ''")
        self.assertEqual(events.fetchall(), [("acme", "ann")] * 3)


if __name__ == "__main__":
    unittest.main()
