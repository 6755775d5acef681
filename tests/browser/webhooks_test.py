#!/usr/bin/env python3
"""The desk's pages of webhooks in Debian's Chromium, against a real node and real receivers.

    webhooks_test.py PROGRAM NODE_MODULES [CASE...]
"""

import json
import unittest
import urllib.request

from desk_case import MARKUP, PROGRAM, DeskCase, admin_key
from node import Node, eventually, new_folder
from webhook_receiver import AnsweringReceiver

UNDONE = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"


class Webhooks(DeskCase):
    """A shop with an endpoint that takes everything and one that takes nothing."""

    SCRIPT = "webhooks.js"

    def setUp(self):
        self.operator = admin_key("night-shift", "--role", "operator", "--payloads", "--secrets")
        self.viewer = admin_key("wall", "--role", "viewer")
        keys = ", ".join(f'{{ name = "{name}", role = "{role}", hash = "{key["hash"]}", payloads = {rights}, '
                         f'secrets = {rights} }}' for name, role, key, rights in
                         [("night-shift", "operator", self.operator, "true"),
                          ("wall", "viewer", self.viewer, "false")])
        self.good, self.bad = AnsweringReceiver(200, f"thanks {MARKUP}"), AnsweringReceiver(500, "out of order")
        self.addCleanup(self.good.close)
        self.addCleanup(self.bad.close)
        self.shop = Node(PROGRAM, "shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
                         f"[admin]\nkeys = [{keys}]\n", new_folder()).init().start()
        self.addCleanup(self.shop.stop)

    def browse(self, case, **more):
        self.run_case(case, {"shop": f"http://127.0.0.1:{self.shop.admin}", "operator": self.operator["key"],
                             "viewer": self.viewer["key"], "good": self.good.url, "bad": self.bad.url, **more})

    def add(self, url, **more):
        request = urllib.request.Request(f"http://127.0.0.1:{self.shop.admin}/_rf/webhooks",
                                         json.dumps({"url": url, **more}).encode(),
                                         {"Authorization": f"Bearer {self.operator['key']}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def publish(self, payload, kind="order.paid", tenant=None):
        return self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                             " VALUES ('webhooks', ?, ?, ?) RETURNING message_id",
                             kind, json.dumps(payload), tenant)[0][0]

    def count_attempts(self, status):
        return self.shop.number("SELECT count(*) FROM webhook_attempts WHERE status = ?", status)

    def fail_twice(self):
        """An endpoint with two deliveries that were given up, beside one that is well."""
        self.add(self.good.url, eventType="order.*", description="the one that works")
        bad = self.add(self.bad.url, eventType="order.*", maxRetries=0, tenant="acme")
        for amount in (1, 2):
            self.publish({"amount": amount, "by": MARKUP}, tenant="acme")
        self.assertTrue(eventually(lambda: self.count_attempts(1) == 2 and self.count_attempts(3) == 2
                                   and self.shop.number(UNDONE) == 0),
                        self.shop.log_text()[-3000:])
        return bad

    def test_an_endpoint_is_made_on_the_page_and_what_is_wrong_stands_at_its_field(self):
        self.browse("make")
        [[url, kind, retries]] = self.shop.sql("SELECT url, event_type, max_retries FROM webhook_subscriptions")
        self.assertEqual((url, kind, retries), (self.good.url, "order.*", 7))
        event = self.publish({"amount": 7, "by": MARKUP})
        self.assertTrue(eventually(lambda: self.count_attempts(1) == 1), self.shop.log_text()[-3000:])
        self.browse("delivered", event=event, signature=self.good.requests[0]["headers"]["webhook-signature"],
                    markup=MARKUP)

    def test_what_fails_is_shown_first_and_what_it_missed_is_recovered(self):
        bad = self.fail_twice()
        self.bad.status = 204
        self.bad.body = ""
        self.shop.sql("INSERT INTO webhook_event_types (name, description, example)"
                      " VALUES ('order.paid', 'An order was paid', '{\"amount\": 7}')")
        self.browse("recover", id=bad["id"])
        self.assertTrue(eventually(lambda: len(self.bad.requests) == 4))  # Two, and the same two again.
        self.assertTrue(eventually(lambda: self.count_attempts(1) == 4))

    def test_a_test_is_sent_and_shown_and_the_secret_is_changed_and_shown_once(self):
        one = self.add(self.good.url)
        self.browse("turns", id=one["id"], secret=one["secret"])
        self.assertEqual([json.loads(each["body"])["type"] for each in self.good.requests], ["webhook.test"])
        self.assertEqual(self.shop.number("SELECT count(*) FROM webhook_subscriptions"), 0)

    def test_a_viewer_looks_and_neither_changes_nor_reads_payloads(self):
        bad = self.fail_twice()
        self.browse("viewer", id=bad["id"])
        self.assertEqual(self.shop.number("SELECT state FROM webhook_subscriptions WHERE id = ?", bad["id"]), "active")

    def test_pages_are_accessible_narrow_and_dark(self):
        bad = self.fail_twice()
        self.browse("looks", id=bad["id"])


if __name__ == "__main__":
    unittest.main()
