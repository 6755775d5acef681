#!/usr/bin/env python3
"""Attacks on the portal: a subscriber reaches their own endpoints and nothing of others. On SQLite, or
on the server that POSTHORN_TEST_POSTGRES names.

webhook_portal_test.py PROGRAM [WebhookPortal.test_…]
"""

import base64
import gzip
import hashlib
import hmac
import http.client
import json
import re
import subprocess
import sys
import time
import unittest

from node import eventually
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
KEY = base64.b64encode(bytes(range(32))).decode()
SETTINGS = ('[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
            'portal = true\nportal_embedders = "https://app.example"\nkey = "env:SEALING"\n')
READS = ["", "/health", "/recover", "/deliveries", "/deliveries/1", "/deliveries/1?payload=true"]
CHANGES = ["edit", "pause", "resume", "disable", "enable", "rotate", "recover", "remove", "test",
           "deliveries/1/retry"]
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


class WebhookPortal(unittest.TestCase):
    def setUp(self):
        self.receiver = AnsweringReceiver(200, "thanks")
        self.addCleanup(self.receiver.close)
        made = json.loads(subprocess.run(
            [PROGRAM, "keys", "admin", "new", "--name", "o", "--role", "operator", "--secrets", "--json"],
            check=True, capture_output=True, text=True).stdout)
        self.key = made["key"]
        self.node = node_of_this_run(PROGRAM, "shop", SETTINGS + '[admin]\nkeys = [{ name = "o", role = "operator",'
                                     f' secrets = true, hash = "{made["hash"]}" }}]\n', environment={"SEALING": KEY}).init().start()
        self.addCleanup(self.node.kill)
        self.mine, self.theirs, self.everyones = (
            self.admin("POST", "", {"url": self.receiver.url, **more})["id"]
            for more in ({"tenant": "acme"}, {"tenant": "globex"}, {}))

    def send(self, port, method, path, body, bearer):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request(method, path, None if body is None else json.dumps(body),
                           {} if bearer is None else {"Authorization": f"Bearer {bearer}"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def admin(self, method, path, body=None):
        status, text = self.send(self.node.admin, method, "/_rf/webhooks" + path, body, self.key)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def token(self, tenant="acme", rights="read,write", **more):
        return self.admin("POST", "/portal-tokens", {"tenant": tenant, "rights": rights, **more})["token"]

    def ask(self, method, path, body=None, token=None, expect=200):
        status, text = self.send(self.node.port, method, "/webhooks/portal" + path, body, token)
        self.assertEqual(status, expect, f"{method} {path}: {text}")
        return json.loads(text)

    def publish(self, tenant, payload='{"amount":7}'):
        self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                      " VALUES ('webhooks', 'order.paid', ?, ?)", payload, tenant)

    def attempts(self, number):
        count = "SELECT count(*) FROM webhook_attempts"
        self.assertTrue(eventually(lambda: self.node.number(count) == number), self.node.log_text()[-3000:])

    def test_a_subscriber_sees_to_their_own_endpoints(self):
        token = self.token()
        self.publish("acme")
        self.attempts(2)  # Theirs, and everyone's.
        self.assertEqual(self.ask("GET", "/types", token=token), {"types": [], "strict": False})
        page = self.ask("GET", "/endpoints", token=token)
        self.assertEqual([each["id"] for each in page["endpoints"]], [self.mine])
        self.assertEqual((page["fitting"], page["states"]), (1, {"delivering": 1}))
        [tried] = self.ask("GET", f"/{self.mine}/deliveries", token=token)["deliveries"]
        told = self.ask("GET", f"/{self.mine}/deliveries/{tried['seq']}?payload=true", token=token)
        self.assertIn('"data":{"amount":7}', told["request"]["body"])
        self.assertTrue(self.ask("POST", f"/{self.mine}/test", token=token)["delivered"])
        self.assertTrue(self.ask("POST", f"/{self.mine}/rotate", token=token)["secret"].startswith("whsec_"))
        made = self.ask("POST", "", {"url": self.receiver.url, "eventType": "x.*"}, token=token)
        self.assertEqual(made["tenant"], "acme")
        self.ask("POST", f"/{made['id']}/edit", {"description": "mine"}, token=token)
        self.assertEqual(self.ask("POST", f"/{made['id']}/remove", token=token)["removed"], True)

    def test_nothing_of_another_tenant_is_there_and_it_looks_as_what_never_was(self):
        token = self.token()
        self.publish("globex", '{"secret":"of globex"}')
        self.attempts(2)
        rows = [row[0] for row in self.node.sql("SELECT seq FROM webhook_attempts")]
        for other in (self.theirs, self.everyones):
            for method, what in [("GET", each) for each in READS] + [("POST", "/" + each) for each in CHANGES]:
                refused = self.ask(method, f"/{other}{what}", {} if method == "POST" else None, token, 404)
                absent = self.ask(method, f"/{ABSENT}{what}", {} if method == "POST" else None, token, 404)
                self.assertEqual(refused["message"].replace(other, ABSENT), absent["message"])
        # An attempt of another's, by way of one's own endpoint.
        for seq in rows:
            self.ask("GET", f"/{self.mine}/deliveries/{seq}?payload=true", token=token, expect=404)
            self.ask("POST", f"/{self.mine}/deliveries/{seq}/retry", {}, token, 404)
        self.assertEqual(self.ask("GET", f"/{self.mine}/deliveries", token=token)["deliveries"], [])
        for query in ("?tenant=globex", "?tenant=acme&tenant=globex", "?text=x&tenant=globex", "?%74enant=globex"):
            self.ask("GET", "/endpoints" + query, token=token, expect=400)
        for query in ("?text=", f"?text={self.theirs}", "?state=quiet", "?limit=1000"):
            listed = self.ask("GET", "/endpoints" + query, token=token)["endpoints"]
            self.assertEqual([each for each in listed if each["tenant"] != "acme"], [])
        self.ask("POST", "", {"url": self.receiver.url, "tenant": "globex"}, token, 400)
        self.ask("POST", "", {"url": self.receiver.url, "tenant": ""}, token, 400)
        self.ask("POST", f"/{self.mine}/edit", {"tenant": "globex"}, token, 400)
        self.ask("POST", f"/{self.mine}/edit", {"tenant": ""}, token, 400)
        states = self.node.sql("SELECT state, count(*) FROM webhook_subscriptions GROUP BY state")
        self.assertEqual([tuple(each) for each in states], [("active", 3)])

    def test_tokens_that_are_forged_changed_or_over_open_nothing(self):
        good = self.token()
        body, signature = good.removeprefix("pht_").split(".")
        claims = json.loads(base64.b64decode(body))

        def forged(key, **changed):
            text = base64.b64encode(json.dumps({**claims, **changed}).encode())
            made = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())
            return f"pht_{text.decode()}.{made.decode()}"

        other = base64.b64encode(json.dumps({**claims, "tenant": "globex"}).encode()).decode()
        bad = [None, "", "pht_", "pht_.", good[:-1], good + "=", good.upper(), good.removeprefix("pht_"),
               f"pht_{other}.{signature}", f"pht_{body}.", f"pht_.{signature}", f"pht_{body}.{body}",
               forged(b"", tenant="globex"), forged(bytes(range(32)), tenant="globex"), self.key,
               "pht_" + "A" * 5000 + "." + signature]
        for token in bad:
            self.ask("GET", "/endpoints", token=token, expect=401)
            self.ask("GET", f"/{self.mine}", token=token, expect=401)
            self.ask("POST", f"/{self.mine}/remove", {}, token, 401)
        short = self.token(forSeconds=1)
        until = json.loads(base64.b64decode(short.removeprefix("pht_").split(".")[0]))["until"]
        self.assertTrue(eventually(lambda: time.time() * 1000 > until))
        self.ask("GET", "/endpoints", token=short, expect=401)
        # The admin listener does not take it.
        status, _ = self.send(self.node.admin, "GET", "/_rf/webhooks", None, good)
        self.assertEqual(status, 401)

    def test_a_token_that_lets_look_changes_nothing(self):
        token = self.token(rights="read")
        self.ask("GET", f"/{self.mine}", token=token)
        for what in CHANGES:
            self.ask("POST", f"/{self.mine}/{what}", {}, token, 403)
        self.ask("POST", "", {"url": self.receiver.url}, token, 403)
        self.assertEqual(self.receiver.requests, [])

    def test_a_token_is_told_what_it_lets_do(self):
        for rights in ("read", "read,write"):
            told = self.ask("GET", "/token", token=self.token(rights=rights, forSeconds=600))
            self.assertEqual((told["tenant"], told["rights"]), ("acme", rights))
            self.assertTrue(0 < told["secondsLeft"] <= 600, told)
        self.ask("GET", "/token", expect=401)

    def fetch(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=30)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def test_the_page_may_be_framed_by_those_that_are_named_and_holds_nothing_of_the_node(self):
        answer, page = self.fetch("/webhooks/portal/")
        self.assertEqual(answer.status, 200)
        self.assertIn("frame-ancestors https://app.example", answer.getheader("Content-Security-Policy"))
        self.assertIn(b'content="https://app.example"', page)
        moved, _ = self.fetch("/webhooks/portal")
        self.assertEqual((moved.status, moved.getheader("Location")), (308, "portal/"))
        [script] = re.findall(rb'src="\./(assets/portal-[^"]+\.js)"', page)
        answer, packed = self.fetch("/webhooks/portal/" + script.decode(), **{"Accept-Encoding": "gzip"})
        self.assertEqual((answer.status, answer.getheader("Content-Encoding")), (200, "gzip"))
        self.assertIn(b"posthorn-portal", gzip.decompress(packed))
        # On the admin listener there is none.
        status, _ = self.send(self.node.admin, "GET", "/webhooks/portal/", None, self.key)
        self.assertEqual(status, 404)

    def test_answers_are_not_kept_nor_taken_for_anything_else(self):
        for path in ("/webhooks/portal/endpoints", f"/webhooks/portal/{self.mine}", "/webhooks/portal/token"):
            answer, _ = self.fetch(path, Authorization=f"Bearer {self.token()}")
            self.assertEqual((answer.status, answer.getheader("Cache-Control"), answer.getheader("X-Content-Type-Options")),
                             (200, "no-store", "nosniff"))

    def test_paths_that_play_tricks_lead_nowhere(self):
        token = self.token()
        for path in (f"/{self.mine}/../{self.theirs}", f"/{self.mine}%2F..%2F{self.theirs}", f"//{self.theirs}",
                     f"/{self.theirs}%00", f"/%2e%2e/{self.theirs}", "/portal-tokens", f"/{self.theirs}/",
                     f"/{self.mine}/deliveries/..", f"/{self.mine}/deliveries/-1", "/../../_rf/webhooks"):
            status, text = self.send(self.node.port, "GET", "/webhooks/portal" + path, None, token)
            self.assertIn(status, (400, 404, 405), f"{path}: {text}")
            self.assertNotIn("globex", text)
        status, _ = self.send(self.node.port, "POST", "/webhooks/portal/portal-tokens", {"tenant": "globex"}, token)
        self.assertIn(status, (400, 404, 405))

    def test_what_the_guard_found_is_not_told(self):
        token = self.token()
        made = self.ask("POST", "", {"url": "http://10.1.2.3:81/x", "maxRetries": 0}, token=token)
        told = self.ask("POST", f"/{made['id']}/test", token=token)
        self.assertEqual((told["delivered"], told["error"]), (False, "address not allowed"))
        self.assertNotIn("10.1.2.3", json.dumps({**told, "request": None}))
        self.publish("acme")
        self.attempts(3)
        [tried] = self.ask("GET", f"/{made['id']}/deliveries?limit=1", token=token)["deliveries"]
        self.assertEqual(tried["error"], "address not allowed")
        # The operator is told which address it was.
        self.assertIn("10.1.2.3", self.admin("POST", f"/{made['id']}/test")["error"])

    def test_a_tenant_cannot_fill_the_table(self):
        token = self.token()
        for _ in range(99):
            self.ask("POST", "", {"url": self.receiver.url}, token=token)
        refused = self.ask("POST", "", {"url": self.receiver.url}, token, 409)
        self.assertIn("no more can be made", refused["message"])
        self.ask("POST", "", {"url": self.receiver.url}, self.token("globex"))

    def test_what_a_token_is_asked_for_is_checked(self):
        for body in ({}, {"tenant": ""}, {"tenant": 7}, {"tenant": "a" * 257}, {"tenant": "a", "rights": "all"},
                     {"tenant": "a", "forSeconds": 0}, {"tenant": "a", "forSeconds": 86401}, {"tenant": "a", "x": 1}):
            status, text = self.send(self.node.admin, "POST", "/_rf/webhooks/portal-tokens", body, self.key)
            self.assertEqual(status, 400, text)

    def test_it_is_off_unless_it_is_turned_on_and_wants_a_key(self):
        off = node_of_this_run(PROGRAM, "quiet", "[webhooks]\n").init().start()
        self.addCleanup(off.kill)
        for path in ("/webhooks/portal/endpoints", "/webhooks/portal/token", "/webhooks/portal/", "/webhooks/portal"):
            status, _ = self.send(off.port, "GET", path, None, self.token())
            self.assertEqual(status, 404, path)
        said = subprocess.run([PROGRAM, "webhooks", "portal-token", "--tenant", "acme", "--config", off.file],
                              capture_output=True, text=True)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("the portal is off", said.stderr)
        keyless = node_of_this_run(PROGRAM, "keyless", "[webhooks]\nportal = true\n")
        said = subprocess.run([PROGRAM, "serve", "--config", keyless.file], capture_output=True, text=True)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("webhooks.portal needs webhooks.key", said.stderr)

    def test_a_token_is_made_on_the_command_line_too(self):
        made = json.loads(subprocess.run(
            [PROGRAM, "webhooks", "portal-token", "--tenant", "acme", "--rights", "read", "--for-seconds", "60",
             "--config", self.node.file, "--json"], check=True, capture_output=True, text=True,
            env=self.node.environment).stdout)
        self.assertEqual((made["tenant"], made["rights"]), ("acme", "read"))
        self.ask("GET", f"/{self.mine}", token=made["token"])


if __name__ == "__main__":
    unittest.main()
