#!/usr/bin/env python3
"""The outbox under the names of the webhook document, as a running node fills it: on SQLite, or on the
server that POSTHORN_TEST_POSTGRES names.

webhook_views_test.py PROGRAM [WebhookViews.test_…]
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
PENDING, PUBLISHED, DELIVERED, FAILED, DEAD_LETTERED = 0, 2, 3, 4, 5


class WebhookViews(unittest.TestCase):
    def setUp(self):
        self.good, self.bad = AnsweringReceiver(200, "thanks"), AnsweringReceiver(500, "no")
        self.addCleanup(self.good.close)
        self.addCleanup(self.bad.close)
        self.addCleanup(self.good.gate.set)

    def start(self, pauses="20ms"):
        self.node = node_of_this_run(
            PROGRAM, "shop", f'[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "{pauses}"\n')
        self.node.init()

    def subscribe(self, receiver, kind, retries=0):
        one = str(uuid.uuid4())
        self.node.sql("INSERT INTO webhook_subscriptions (id, event_type, url, secret, style, max_retries)"
                      " VALUES (?, ?, ?, ?, 'outbox', ?)", one, kind, receiver.url, SECRET, retries)
        return one

    def publish(self, kind, key=None, to="webhooks"):
        return self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
                             " VALUES (?, ?, '{}', ?) RETURNING message_id", to, kind, key)[0][0]

    def rows(self, columns, view, which="", *values):
        """As both stores tell them: the server's client prints nothing for NULL."""
        names = ", ".join(f'"{each}"' for each in columns.split())
        return [tuple(None if each == "" else each for each in row)
                for row in self.node.sql(f'SELECT {names} FROM "{view}" {which}', *values)]

    def event(self, one, columns):
        [row] = self.rows(columns, "OutboxMessages", 'WHERE "Id" = ?', one)
        return row

    def attempts(self, event, columns):
        return self.rows(columns, "DeliveryAttempts", 'WHERE "OutboxMessageId" = ? ORDER BY "AttemptNumber"', event)

    def becomes(self, expected, look):
        self.assertTrue(eventually(lambda: look() == expected), (look(), self.node.log_text()[-3000:]))

    def test_an_event_is_published_while_a_delivery_waits_and_then_what_became_of_them(self):
        self.start()
        self.good.gate.clear()
        self.subscribe(self.good, "order.paid")
        self.subscribe(self.good, "order.late")
        self.subscribe(self.bad, "order.late")
        self.subscribe(self.bad, "order.lost")
        before = self.publish("order.paid")
        self.assertEqual(self.event(before, "Status ProcessedAt"), (PENDING, None))
        self.node.start()
        self.addCleanup(self.node.kill)
        paid, late, lost, unheard = (self.publish(f"order.{kind}") for kind in ("paid", "late", "lost", "none"))
        status = lambda: [self.event(each, "Status")[0] for each in (paid, late, lost, unheard)]
        self.becomes([PUBLISHED, PUBLISHED, DEAD_LETTERED, DELIVERED], status)
        self.assertEqual(self.event(paid, "ProcessedAt LastError"), (None, None))
        self.good.gate.set()
        self.becomes([DELIVERED, FAILED, DEAD_LETTERED, DELIVERED], status)
        self.assertIsNotNone(self.event(paid, "ProcessedAt")[0])
        self.assertIsNotNone(self.event(unheard, "ProcessedAt")[0])
        self.assertEqual(self.event(late, "ProcessedAt NextRetryAt"), (None, None))
        [(error,)] = self.node.sql("SELECT last_error FROM outbox_messages WHERE parent_id = ?", lost)
        self.assertEqual(self.event(lost, "LastError ProcessedAt"), (error, None))
        # Deliveries are no messages of the document's.
        self.assertEqual(sorted(self.rows("Id", "OutboxMessages")),
                         sorted((each,) for each in (before, paid, late, lost, unheard)))

    def test_an_attempt_has_what_its_request_filled(self):
        self.start()
        failing, well = self.subscribe(self.bad, "order.paid", retries=1), self.subscribe(self.good, "order.late")
        self.node.start()
        self.addCleanup(self.node.kill)
        paid, late = self.publish("order.paid"), self.publish("order.late")
        columns = "WebhookSubscriptionId AttemptNumber Status HttpStatusCode ResponseBody ErrorMessage"
        self.becomes([(failing, 1, 2, 500, "no", "HTTP 500"), (failing, 2, 3, 500, "no", "HTTP 500")],
                     lambda: self.attempts(paid, columns))
        self.becomes([(well, 1, 1, 200, "thanks", None)], lambda: self.attempts(late, columns))
        # The same id in the table and on the wire.
        sent = [request["headers"]["X-Outbox-Delivery-Id"] for request in self.bad.requests]
        self.assertEqual([one for one, in self.attempts(paid, "Id")], sent)
        for took, at, again in self.attempts(paid, "DurationMs AttemptedAt NextRetryAt"):
            self.assertGreaterEqual(took, 0)
            self.assertIsNotNone(at)
            self.assertIsNone(again)
        self.assertEqual(self.event(paid, "RetryCount")[0],
                         self.node.number("SELECT retry_count FROM outbox_messages WHERE parent_id = ?", paid))

    def test_a_delivery_that_waits_for_its_next_attempt_says_until_when(self):
        self.start(pauses="1h")
        self.subscribe(self.bad, "order.paid", retries=3)
        self.node.start()
        self.addCleanup(self.node.kill)
        paid = self.publish("order.paid")
        self.becomes([(1, 2)], lambda: self.attempts(paid, "AttemptNumber Status"))
        waits = lambda: self.event(paid, "Status RetryCount")
        self.becomes((PUBLISHED, 1), waits)
        [(again,)] = self.attempts(paid, "NextRetryAt")
        self.assertIsNotNone(again)
        self.assertEqual(self.event(paid, "NextRetryAt"), (again,))

    def test_the_entity_of_an_event_is_its_own_part_of_the_order_key(self):
        self.start()
        keys = {"5:ü-77,ordür": "ordür", "0:,order 7": "order 7", "3:u-7,": None, "plain": "plain", "9:u,x": "9:u,x",
                "12345678901234567890:u,x": "12345678901234567890:u,x", ":x": ":x"}
        for key, entity in keys.items():
            self.assertEqual(self.event(self.publish("order.paid", key), "EntityId"), (entity,), key)
        self.assertEqual(self.event(self.publish("Charge", "3:u-7,o", to="billing"), "EntityId"), ("3:u-7,o",))


if __name__ == "__main__":
    unittest.main(verbosity=2)
