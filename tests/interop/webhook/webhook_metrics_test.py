#!/usr/bin/env python3
"""What /metrics tells of webhooks, in Posthorn's words and in OutboxNet's: on SQLite, or on the server
that POSTHORN_TEST_POSTGRES names.

webhook_metrics_test.py PROGRAM [WebhookMetrics.test_…]
"""

import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import eventually
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
METER = 'otel_scope_name="OutboxNet",otel_scope_version="1.0.0"'


class WebhookMetrics(unittest.TestCase):
    def start(self, settings=""):
        good, bad = AnsweringReceiver(200, "thanks"), AnsweringReceiver(500, "no")
        self.addCleanup(good.close)
        self.addCleanup(bad.close)
        self.node = node_of_this_run(PROGRAM, "shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\n'
                                     f'retry_pauses = "20ms"\n{settings}').init()
        for receiver, kind, retries in ((good, "order.paid", 0), (bad, "order.late", 1)):
            self.node.sql("INSERT INTO webhook_subscriptions (id, event_type, url, secret, max_retries)"
                          " VALUES (?, ?, ?, ?, ?)", str(uuid.uuid4()), kind, receiver.url, SECRET, retries)
        for kind in ("order.paid", "order.late", "order.none"):
            self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('webhooks', ?, '{}')",
                          kind)
        self.node.start()
        self.addCleanup(self.node.kill)

    def told(self):
        return self.node.get("/metrics").splitlines()

    def becomes(self, expected):
        missing = lambda: set(expected) - set(self.told())
        self.assertTrue(eventually(lambda: not missing()), (missing(), self.node.log_text()[-3000:]))

    def test_what_became_of_events_is_counted_by_their_type(self):
        self.start()
        self.becomes([f'posthorn_webhook_{name}{{event_type="order.{kind}"}} {number}' for name, kind, number in (
            ("processed_total", "paid", 1), ("processed_total", "none", 1), ("processed_total", "late", 0),
            ("retries_total", "late", 1), ("dead_total", "late", 1), ("dead_total", "paid", 0),
            ("answer_duration_ms_count", "late", 2), ("answer_duration_ms_count", "paid", 1))])
        self.assertFalse([line for line in self.told() if "OutboxNet" in line])

    def test_they_are_told_in_the_words_of_outboxnet_too_where_that_is_chosen(self):
        self.start('metrics = "outboxnet"\n')
        self.becomes([f'outbox_{name}{{{METER},event_type="order.{kind}"}} {number}' for name, kind, number in (
            ("messages_processed_total", "paid", 1), ("messages_processed_total", "none", 1),
            ("messages_processed_total", "late", 0), ("messages_failed_total", "late", 1),
            ("messages_dead_lettered_total", "late", 1), ("delivery_attempts_total", "late", 2),
            ("delivery_failures_total", "late", 2), ("delivery_successes_total", "late", 0),
            ("delivery_attempts_total", "paid", 1), ("delivery_successes_total", "paid", 1),
            ("delivery_duration_ms_count", "late", 2), ("delivery_duration_ms_count", "paid", 1))])
        # What plain SQL has written is found in batches.
        for name in ("batches_processed_total", "batch_size_count", "processing_duration_ms_count"):
            [line] = [each for each in self.told() if each.startswith(f"outbox_{name}{{{METER}}} ")]
            self.assertGreaterEqual(float(line.split()[-1]), 1, line)
        for name, kind in (("messages_published_total", "counter"), ("delivery_duration_ms", "histogram"),
                           ("batch_size", "histogram"), ("processing_duration_ms", "histogram")):
            self.assertIn(f"# TYPE outbox_{name} {kind}", self.told())

    def test_an_endpoint_of_the_configuration_that_wants_no_more_is_not_counted_as_disabled(self):
        gone = AnsweringReceiver(410, "")
        self.addCleanup(gone.close)
        self.node = node_of_this_run(
            PROGRAM, "shop", '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\n'
            f'subscribers = [{{ url = "{gone.url}", secret = "env:HOOK" }}]\n', environment={"HOOK": SECRET}).init()
        for _ in range(2):
            self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload)"
                          " VALUES ('webhooks', 'order.paid', '{}')")
        self.node.start()
        self.addCleanup(self.node.kill)
        self.becomes(['posthorn_webhook_dead_total{event_type="order.paid"} 2', "posthorn_webhook_disabled_total 0"])
        self.assertNotIn("is disabled", self.node.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
