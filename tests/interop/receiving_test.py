#!/usr/bin/env python3
"""What a running node says of its work: answers, statistics, metrics and the lines of its log.

receiving_test.py PROGRAM [Receiving.test_…]
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

from node import Node, eventually
from wire import Sender, envelope

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
OPERATOR = "phk_" + base64.urlsafe_b64encode(os.urandom(24)).decode()
ADMIN = ('[admin]\nkeys = [{ name = "desk", role = "operator", hash = "sha256:'
         f'{hashlib.sha256(OPERATOR.encode()).hexdigest()}" }}]\n')
HASTE = '[outbox]\nretry_delay_base = "20ms"\nretry_delay_max = "40ms"\njitter_max = "0ms"\nmax_retries = 2\n'


class Receiving(unittest.TestCase):
    def setUp(self):
        """Two nodes; stock has no more than two of anything to give."""
        self.stock = self.node("stock", f'[secrets]\nshop = "{SECRET_TEXT}"\n'
                               '[handlers]\nReserve = "sql:INSERT INTO reservations VALUES (:sku)"\n'
                               'Count = "sql:SELECT count(*) AS n FROM reservations"\n')
        self.sender = Sender(self.stock.port, "shop", "stock", SECRET)
        self.addCleanup(self.sender.connection.close)

    def node(self, service, configuration):
        made = Node(PROGRAM, service, 'level = "debug"\n' + ADMIN + configuration).init()
        made.sql("CREATE TABLE reservations (sku TEXT UNIQUE)")
        made.sql("CREATE TRIGGER only_tea BEFORE INSERT ON reservations WHEN NEW.sku = 'gone'"
                 " BEGIN SELECT raise(ABORT, 'out of stock'); END")
        self.addCleanup(made.kill)
        return made.start()

    def shop(self):
        """A node that sends to stock, with three messages: one good, one that fails, one again."""
        shop = self.node("shop", HASTE + f'[routes]\nstock = "http://127.0.0.1:{self.stock.port}"\n'
                         f'[secrets]\nstock = "{SECRET_TEXT}"\n')
        self.shop_node = shop
        for sku in ("tea", "gone"):
            shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, max_retries) VALUES"
                     " ('stock', 'Reserve', ?, 2)", json.dumps({"sku": sku}))
        self.assertTrue(eventually(lambda: self.statuses(shop) == ["Sent", "Dead"]), shop.log_text())
        return shop

    def statuses(self, node):
        return [status for status, in node.sql("SELECT status FROM outbox_messages ORDER BY seq")]

    def ask(self, node, method, path):
        request = urllib.request.Request(f"http://127.0.0.1:{node.admin}{path}", method=method,
                                         headers={"Authorization": f"Bearer {OPERATOR}"},
                                         data=b"" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def look(self, node, path):
        return json.loads(self.ask(node, "GET", path)[1])

    def test_a_handler_that_fails_is_answered_with_500_and_leaves_no_inbox_row(self):
        message = envelope("shop", "Reserve", {"sku": "gone"})
        status, answer, signed = self.sender.send(message)
        self.assertEqual((status, answer["acknowledged"], signed), (500, False, True), answer)
        self.assertIn("out of stock", answer["error"])
        self.assertEqual(self.stock.number("SELECT count(*) FROM inbox_messages"), 0)
        self.assertEqual(self.stock.number("SELECT count(*) FROM reservations"), 0)
        self.stock.sql("DROP TRIGGER only_tea")
        self.assertEqual(self.sender.send(message)[1]["duplicateDetected"], False)

    def test_the_statistics_of_the_inbox_tell_the_rate_of_duplicates(self):
        message = envelope("shop", "Reserve", {"sku": "tea"})
        for _ in range(2):
            self.assertEqual(self.sender.send(message)[0], 200)
        seen = {}
        def has_both():  # Looked up once a second at most.
            seen.update(self.look(self.stock, "/_rf/inbox/stats"))
            return (seen["processed"], seen["duplicates"]) == (1, 1)
        self.assertTrue(eventually(has_both), seen)
        self.assertEqual((seen["size"], seen["duplicateRate"]), (1, 0.5))

    def test_handlers_are_told_with_how_they_do_and_why_one_fails(self):
        def handlers():
            return {each.pop("endpoint"): each for each in self.look(self.stock, "/_rf/inbox/handlers")["handlers"]}
        for sku in ("tea", "gone", "gone"):
            self.sender.send(envelope("shop", "Reserve", {"sku": sku}))
        self.sender.send(envelope("shop", "Count", {}))
        self.sender.send(envelope("shop", "Missing", {}))
        seen = handlers()
        self.assertEqual(sorted(seen), ["Count", "Missing", "Reserve", "other"])
        reserve, failing = seen["Reserve"], seen["Reserve"].pop("failing")
        self.assertEqual((reserve["handled"], reserve["failed"], reserve["duplicates"]), (1, 2, 0))
        self.assertTrue(0 < reserve["p50Ms"] <= reserve["p99Ms"], reserve)
        self.assertEqual((failing["times"], failing["source"]), (2, "shop"))
        self.assertIn("out of stock", failing["why"])
        self.assertLessEqual(failing["since"], failing["last"])
        self.assertEqual(seen["Missing"]["failing"]["error"], "no_handler")
        self.assertNotIn("failing", seen["Count"])
        # What works again is said to.
        self.sender.send(envelope("shop", "Reserve", {"sku": "coffee"}))
        self.assertNotIn("failing", handlers()["Reserve"])

    def test_messages_that_were_not_taken_in_are_told_with_why_until_they_are(self):
        gone = envelope("shop", "Reserve", {"sku": "gone"})
        missing = envelope("shop", "Missing", {})
        for message in (gone, gone, missing):
            self.sender.send(message)
        newest, oldest = self.look(self.stock, "/_rf/inbox/failed")["failed"]
        self.assertEqual((newest["messageId"], newest["times"], newest["error"]), (missing["messageId"], 1, "no_handler"))
        self.assertEqual((oldest["messageId"], oldest["source"], oldest["endpoint"], oldest["times"]),
                         (gone["messageId"], "shop", "Reserve", 2))
        self.assertIn("out of stock", oldest["why"])
        self.assertNotIn("error", oldest)
        self.assertEqual(self.look(self.stock, "/_rf/inbox/failed?source=web"), {"failed": []})
        self.assertEqual(self.ask(self.stock, "GET", "/_rf/inbox/failed?colour=red")[0], 400)
        one = self.look(self.stock, f"/_rf/inbox/{gone['messageId']}")
        self.assertEqual((one["received"], one["failed"], one["refused"]), ([], [oldest], []))
        table = subprocess.run([PROGRAM, "inbox", "failed", "--url", f"http://127.0.0.1:{self.stock.admin}", "--key",
                                OPERATOR], check=True, capture_output=True, text=True).stdout
        self.assertRegex(table, f"{gone['messageId']} +shop +Reserve +.* 2 +.*out of stock")

        self.stock.sql("DROP TRIGGER only_tea")
        self.sender.send(gone)
        self.assertEqual([each["messageId"] for each in self.look(self.stock, "/_rf/inbox/failed")["failed"]],
                         [missing["messageId"]])
        one = self.look(self.stock, f"/_rf/inbox/{gone['messageId']}")
        self.assertEqual((len(one["received"]), one["failed"]), (1, []))

    def test_health_statistics_and_the_failed_are_answered_and_one_is_retried_by_a_person(self):
        shop = self.shop()
        dead, = (one for one, in shop.sql("SELECT message_id FROM outbox_messages WHERE status = 'Dead'"))
        stats = lambda: {name: self.look(shop, "/_rf/outbox/stats")[name]
                         for name in ("pending", "failed", "expired")}
        self.assertTrue(eventually(lambda: stats() == {"pending": 0, "failed": 1, "expired": 0}), stats())
        self.assertEqual(self.look(shop, "/_rf/health")["status"], "red")
        listed, = self.look(shop, "/_rf/outbox/failed")["messages"]
        self.assertEqual((listed["messageId"], listed["retryCount"]), (dead, 3))
        peer, = self.look(shop, "/_rf/outbox/stats")["peers"]
        self.assertEqual((peer["destination"], peer["reachable"]), ("stock", True))
        self.stock.sql("DROP TRIGGER only_tea")
        self.assertEqual(self.ask(shop, "POST", f"/_rf/outbox/{dead}/retry")[0], 200)
        self.assertTrue(eventually(lambda: self.statuses(shop) == ["Sent", "Sent"]), shop.log_text())
        self.assertEqual(self.ask(shop, "POST", f"/_rf/outbox/{dead}/retry")[0], 409)
        self.assertTrue(eventually(lambda: self.look(shop, "/_rf/health")["status"] == "green"))

    def metrics(self, node):
        """Samples by name; of a histogram its count and its sum."""
        text = self.ask(node, "GET", "/metrics")[1]
        return {name: float(value) for name, value in re.findall(r"^(\w+) ([-+.\de]+)$", text, re.MULTILINE)}

    def test_the_metrics_of_the_document_count_what_was_sent_failed_and_came_twice(self):
        shop = self.shop()
        message = envelope("shop", "Reserve", {"sku": "coffee"})
        for _ in range(2):
            self.assertEqual(self.sender.send(message)[0], 200)
        sent, received = {}, {}
        def counted():
            sent.update(self.metrics(shop))
            received.update(self.metrics(self.stock))
            return sent["rf_outbox_failed_count"] == 1 and received["rf_inbox_duplicate_count"] == 1
        self.assertTrue(eventually(counted), (sent, received))
        self.assertEqual((sent["rf_outbox_pending_count"], sent["rf_outbox_expired_count"]), (0, 0))
        self.assertEqual((sent["rf_outbox_send_duration_ms_count"], sent["posthorn_outbox_sent_total"]), (4, 1))
        self.assertEqual((sent["rf_outbox_retry_count_count"], sent["rf_outbox_retry_count_sum"]), (2, 2))
        self.assertEqual(received["rf_inbox_size"], 2)
        self.assertGreaterEqual(received["rf_inbox_process_duration_ms_count"], 2)

    def test_the_seven_lines_of_the_document_come_with_their_fields(self):
        shop = self.shop()
        done = self.stock.number("SELECT count(*) FROM reservations")
        self.assertEqual(done, 1)
        message = envelope("shop", "Reserve", {"sku": "coffee"})
        for _ in range(2):
            self.sender.send(message)
        self.sender.send(envelope("shop", "Count", {}, messageType="Command", correlationId="c-1"))
        forged = Sender(self.stock.port, "shop", "stock", os.urandom(32))
        self.addCleanup(forged.connection.close)
        self.assertEqual(forged.send(envelope("shop", "Reserve", {"sku": "tea"}))[0], 401)
        # A line is written before its request is answered, or the row settled; by now all of them are.
        tea, gone = (one for one, in shop.sql("SELECT message_id FROM outbox_messages ORDER BY seq"))
        of_shop, of_stock = ([json.loads(line) for line in node.log_text().splitlines()]
                             for node in (shop, self.stock))
        def line(lines, level, beginning, **fields):
            found = [one for one in lines if one["level"] == level and one["message"].startswith(beginning)
                     and all(one.get(name) == value for name, value in fields.items())]
            self.assertTrue(found, (beginning, fields, lines))
            return found[0]
        response = self.stock.number("SELECT message_id FROM outbox_messages WHERE correlation_id = 'c-1'")
        line(of_stock, "info", f"Outbox: Message {response} enqueued for shop/Count", MessageId=response,
             Destination="shop", Endpoint="Count")
        sent = line(of_shop, "info", f"Outbox: Message {tea} sent successfully (", MessageId=tea)
        self.assertIsInstance(sent["Duration"], int)
        failed = line(of_shop, "warn", f"Outbox: Message {gone} send failed, retry 1/2: ", MessageId=gone,
                      RetryCount=1, MaxRetries=2)
        self.assertIn("out of stock", failed["Error"])
        line(of_shop, "error", f"Outbox: Message {gone} permanently failed after 2 retries",
             MessageId=gone, MaxRetries=2)
        line(of_shop, "debug", f"Published {tea}", MessageId=tea)
        line(of_shop, "debug", f"Failed to publish {gone}", MessageId=gone)
        line(of_stock, "info", f"Inbox:  Message {tea} processed from shop", MessageId=tea,
             SourceServiceId="shop")
        line(of_stock, "warn", f"Inbox:  Duplicate {message['messageId']} detected from shop",
             MessageId=message["messageId"], SourceServiceId="shop")
        line(of_stock, "warn", "Inbox:  HMAC verification failed for ", SourceServiceId="shop")


if __name__ == "__main__":
    unittest.main(verbosity=2)
