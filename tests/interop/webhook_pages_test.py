#!/usr/bin/env python3
"""What the pages of webhooks are made of, asked of a real node: on SQLite, or on the server that
POSTHORN_TEST_POSTGRES names.

webhook_pages_test.py PROGRAM [WebhookPages.test_…]
"""

import http.client
import json
import subprocess
import sys
import unittest

from node import eventually
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
SETTINGS = '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'


class WebhookPages(unittest.TestCase):
    def setUp(self):
        self.good, self.bad = AnsweringReceiver(200, "thanks"), AnsweringReceiver(500, "no")
        self.addCleanup(self.good.close)
        self.addCleanup(self.bad.close)
        made = json.loads(self.run_program("keys", "admin", "new", "--name", "o", "--role", "operator", "--payloads",
                                           "--json"))
        self.key = made["key"]
        self.node = node_of_this_run(PROGRAM, "shop", SETTINGS + '[admin]\nkeys = [{ name = "o", role = "operator",'
                                     f' payloads = true, hash = "{made["hash"]}" }}]\n').init().start()
        self.addCleanup(self.node.kill)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout

    def ask(self, method, path, body=None, expect=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.admin, timeout=30)
        connection.request(method, "/_rf/webhooks" + path, None if body is None else json.dumps(body),
                           {"Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, expect, told)
        return told

    def add(self, receiver, **more):
        return self.ask("POST", "", {"url": receiver.url, **more})["id"]

    def publish(self, payload, kind="order.paid", tenant=None):
        return self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                             " VALUES ('webhooks', ?, ?, ?) RETURNING message_id",
                             kind, json.dumps(payload), tenant)[0][0]

    def attempts(self, number):
        self.assertTrue(eventually(lambda: self.node.number("SELECT count(*) FROM webhook_attempts") == number),
                        self.node.log_text()[-3000:])
        # An attempt is written down before or after its delivery is settled.
        undone = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"
        self.assertTrue(eventually(lambda: self.node.number(undone) == 0), self.node.log_text()[-3000:])

    def listed(self, query=""):
        return [(each["id"], each["health"]) for each in self.ask("GET", "/endpoints" + query)["endpoints"]]

    def test_endpoints_are_listed_by_how_they_do(self):
        quiet = self.add(self.good, eventType="none.such", description="nobody calls")
        well = self.add(self.good, eventType="order.*")
        failing = self.add(self.bad, eventType="*", tenant="acme", maxRetries=0)
        paused, disabled = self.add(self.good, eventType="x.*"), self.add(self.good, eventType="y.*")
        self.ask("POST", f"/{paused}/pause")
        self.ask("POST", f"/{disabled}/disable")
        for amount in (1, 2):
            self.publish({"amount": amount}, tenant="acme")
        self.attempts(4)
        by_health = [(failing, "failing"), (disabled, "disabled"), (paused, "paused"), (well, "delivering"),
                     (quiet, "quiet")]
        self.assertEqual(self.listed(), by_health)
        page = self.ask("GET", "/endpoints?limit=1")
        self.assertEqual((page["fitting"], page["states"]["failing"], len(page["endpoints"])), (5, 1, 1))
        first = page["endpoints"][0]
        self.assertEqual((first["delivered"], first["failed"], first["dead"], first["lastHttpStatus"]), (0, 2, 2, 500))
        self.assertNotIn("secret", first)
        self.assertEqual(self.listed("?state=paused"), [(paused, "paused")])
        self.assertEqual(self.listed("?tenant=acme"), [(failing, "failing")])
        self.assertEqual(self.listed("?tenant=ACME"), [])
        self.assertEqual(self.listed("?text=nobody%20calls"), [(quiet, "quiet")])
        self.assertEqual(self.listed(f"?text={self.bad.server.server_port}"), [(failing, "failing")])
        self.assertIn("'odd' is not a state", self.ask("GET", "/endpoints?state=odd", expect=400)["message"])
        self.assertIn("cannot be asked for", self.ask("GET", "/endpoints?sort=x", expect=400)["message"])
        self.assertIn("write 1 to 1000", self.ask("GET", "/endpoints?limit=0", expect=400)["message"])

    def test_attempts_are_listed_in_pages_with_the_type_of_their_event(self):
        one = self.add(self.good)
        other = self.add(self.bad, maxRetries=0, eventType="order.paid")
        events = [self.publish({"n": n}, kind="order.paid" if n % 2 else "order.late") for n in range(5)]
        self.attempts(7)
        seen, before = [], ""
        while before is not None:
            page = self.ask("GET", f"/{one}/deliveries?limit=2{before}")
            seen += [(each["messageId"], each["eventType"]) for each in page["deliveries"]]
            before = page["next"] and f"&before={page['next']}"
        self.assertEqual(sorted(seen), sorted((event, "order.paid" if n % 2 else "order.late")
                                              for n, event in enumerate(events)))
        self.assertEqual(self.ask("GET", f"/{one}/deliveries?failed=true")["deliveries"], [])
        failed = self.ask("GET", f"/{other}/deliveries?failed=true")["deliveries"]
        self.assertEqual([(each["state"], each["answer"]) for each in failed], [("dead", "no")] * 2)
        types = {each["eventType"]: each["attempts"] for each in self.ask("GET", f"/{one}/health")["types"]}
        self.assertEqual(types, {"order.paid": 2, "order.late": 3})

    def test_an_attempt_tells_what_was_sent_unless_the_endpoint_has_changed(self):
        one = self.add(self.good, headers={"X-Shop": "7"})
        event = self.publish({"amount": 7})
        self.attempts(1)
        [attempt] = self.ask("GET", f"/{one}/deliveries")["deliveries"]
        path = f"/{one}/deliveries/{attempt['seq']}"
        self.assertNotIn("request", self.ask("GET", path))
        told = self.ask("GET", path + "?payload=true")
        sent = self.good.requests[0]
        self.assertEqual(told["request"]["body"], sent["body"])
        self.assertEqual(told["request"]["url"], self.good.url)
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "Content-Type", "X-Shop"):
            self.assertEqual(told["request"]["headers"][name], sent["headers"][name])
        self.assertEqual((told["messageId"], told["changedSince"]), (event, False))
        self.ask("POST", f"/{one}/rotate")
        changed = self.ask("GET", path + "?payload=true")
        self.assertTrue(changed["changedSince"])
        self.assertNotIn("webhook-signature", changed["request"]["headers"])
        # Of another subscription it is none.
        other = self.add(self.good, eventType="none.such")
        self.ask("GET", f"/{other}/deliveries/{attempt['seq']}", expect=404)

    def test_what_would_be_recovered_is_counted_first(self):
        one = self.add(self.bad, maxRetries=0)
        for n in range(3):
            self.publish({"n": n})
        self.attempts(3)
        self.assertTrue(eventually(lambda: self.ask("GET", f"/{one}/recover")["dead"] == 3))
        self.bad.status = 200
        self.assertEqual(self.ask("POST", f"/{one}/recover")["recovered"], 3)
        self.attempts(6)
        self.assertEqual(self.ask("GET", f"/{one}/recover")["dead"], 0)

    def test_a_refusal_names_the_field(self):
        for field, value in (("url", "nope"), ("eventType", "a b"), ("maxRetries", 99), ("maxRetries", "x"),
                             ("timeoutSeconds", 0), ("filter", "{"), ("headers", {"Host": "x"}), ("secret", "x"),
                             ("tenant", "t" * 300), ("description", "d" * 1001), ("style", "odd"), ("odd", 1)):
            refused = self.ask("POST", "", {"url": self.good.url, field: value}, expect=400)
            self.assertEqual(refused.get("field"), field, refused)
        one = self.add(self.good)
        refused = self.ask("POST", f"/{one}/edit", {"eventType": ""}, expect=400)
        self.assertEqual(refused["field"], "eventType")


if __name__ == "__main__":
    unittest.main()
