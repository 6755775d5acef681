#!/usr/bin/env python3
"""What a running node does with the rows of its outbox, as its receiver and its file see it.

sending_test.py PROGRAM [Sending.test_…]
"""

import base64
import os
import subprocess
import sys
import unittest

import certificates
from node import Node, eventually
from peer import Peer, refused, took_effect

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
DAY_MS = 24 * 60 * 60 * 1000
NOW_MS = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000)"


class Sending(unittest.TestCase):
    def setUp(self):
        self.crm = Peer("crm", "shop", SECRET)
        self.addCleanup(self.crm.close)

    def shop(self, configuration="", service="", rows=(), port=None, scheme="http"):
        """A node with a route to crm; `rows` are in its outbox before it starts."""
        node = Node(PROGRAM, "shop", configuration + f'\n[routes]\n'
                    f'crm = "{scheme}://127.0.0.1:{port or self.crm.port}"\n'
                    f'[secrets]\ncrm = "{SECRET_TEXT}"\n')
        node.write(node.file.read_text().replace("[service]\n", f"[service]\n{service}"))
        node.init()
        for row in rows:
            self.insert(node, **row)
        self.addCleanup(node.kill)
        return node.start()

    def insert(self, node, count=1, **columns):
        columns = {"destination": "crm", "endpoint": "Bought", "payload": "1"} | columns
        values = f"({', '.join('?' for _ in columns)})"
        node.sql(f"INSERT INTO outbox_messages ({', '.join(columns)}) VALUES "
                 + ", ".join([values] * count), *(list(columns.values()) * count))

    def send(self, node, *options):
        return subprocess.run([PROGRAM, "send", "crm", "Bought", "1", "--config", node.file, *options],
                              check=True, capture_output=True, text=True).stdout.strip()

    def becomes(self, node, status, count=1):
        counted = "SELECT count(*) FROM outbox_messages WHERE status = ?"
        self.assertTrue(eventually(lambda: node.number(counted, status) == count),
                        (node.sql("SELECT * FROM outbox_messages"), node.log_text()))

    def pauses(self, node, retries):
        """The pause after each failed attempt, as the row says; none of them is waited for."""
        seen = []
        for number in range(1, retries + 1):
            state = "SELECT retry_count FROM outbox_messages"
            self.assertTrue(eventually(lambda: node.number(state) == number), node.log_text())
            seen.append(node.number("SELECT next_retry_at - last_attempt_at FROM outbox_messages"))
            node.sql("UPDATE outbox_messages SET next_retry_at = 0")
        self.becomes(node, "Dead")
        self.assertEqual(len(self.crm.messages()), retries + 1)
        return seen

    def test_a_backlog_of_120_rows_leaves_in_batches_of_at_most_50(self):
        node = self.shop(rows=[{"count": 120}])
        self.becomes(node, "Sent", 120)
        sizes = [len(request) for request in self.crm.requests]
        self.assertEqual((sum(sizes), max(sizes)), (120, 50), sizes)
        self.assertEqual(len({message["messageId"] for message in self.crm.messages()}), 120)

    def test_pauses_double_from_2_s_with_up_to_half_a_second_of_jitter_and_the_sixth_send_is_the_last(self):
        self.crm.decide = refused(500)
        seen = self.pauses(self.shop(rows=[{}]), 5)
        for pause, base in zip(seen, (2000, 4000, 8000, 16000, 32000)):
            self.assertTrue(base <= pause <= base + 500, seen)

    def test_pauses_of_integration_events_are_1_2_4_8_16_s_and_a_fifth_either_way(self):
        self.crm.decide = refused(500)
        seen = self.pauses(self.shop(service='defaults = "integration-events"\n', rows=[{}]), 5)
        for pause, base in zip(seen, (1000, 2000, 4000, 8000, 16000)):
            self.assertTrue(base * 0.8 <= pause <= base * 1.2, seen)

    def test_pauses_of_webhooks_are_5_10_20_40_80_s_and_a_fifth_either_way(self):
        self.crm.decide = refused(500)
        seen = self.pauses(self.shop(service='defaults = "webhooks"\n', rows=[{}]), 5)
        for pause, base in zip(seen, (5000, 10000, 20000, 40000, 80000)):
            self.assertTrue(base * 0.8 <= pause <= base * 1.2, seen)

    def test_a_request_that_is_not_answered_in_its_time_is_tried_again(self):
        self.crm.open.clear()
        node = self.shop('[outbox]\nrequest_timeout = "200ms"\n', rows=[{}])
        failed = lambda: node.number("SELECT count(*) FROM outbox_attempts") == 1
        self.assertTrue(eventually(failed), node.log_text())
        self.assertEqual(node.number("SELECT retry_count FROM outbox_messages"), 0)
        self.crm.open.set()
        node.sql("UPDATE outbox_messages SET next_retry_at = 0")
        self.becomes(node, "Sent")

    def test_an_answer_that_neither_acknowledges_nor_knows_the_message_is_a_failure_and_is_tried_again(self):
        self.crm.decide = refused(200, error=None)
        node = self.shop(rows=[{}])
        failed = lambda: node.number("SELECT retry_count FROM outbox_messages") == 1
        self.assertTrue(eventually(failed), node.log_text())
        self.assertEqual(node.number("SELECT status FROM outbox_messages"), "Pending")
        self.crm.decide = took_effect
        node.sql("UPDATE outbox_messages SET next_retry_at = 0")
        self.becomes(node, "Sent")

    def test_what_may_pass_is_tried_again_and_every_other_4xx_buries(self):
        ends = {400: "Dead", 403: "Dead", 409: "Dead", 410: "Dead", 422: "Dead", 200: "Sent",
                401: "Pending", 404: "Pending", 408: "Pending", 425: "Pending", 429: "Pending",
                500: "Pending", 503: "Pending"}
        self.crm.batches = False
        self.crm.decide = lambda message: (took_effect if message["payload"] == 200
                                           else refused(message["payload"]))(message)
        node = self.shop(rows=[{"payload": str(status)} for status in ends])
        tried = lambda: len({one["messageId"] for one in self.crm.messages()}) == len(ends)
        self.assertTrue(eventually(tried), node.log_text())
        self.becomes(node, "Dead", 5)
        self.becomes(node, "Sent")
        seen = node.sql("SELECT CAST(payload AS INTEGER), status FROM outbox_messages")
        self.assertEqual(dict(seen), ends)

    def test_what_is_sent_carries_its_type_and_the_numbers_of_the_configuration(self):
        node = self.shop('[outbox]\nmessage_ttl = "3h"\nmax_retries = 7\n')
        self.crm.open.clear()
        identity = self.send(node, "--type", "Command")
        row, = node.sql("SELECT message_id, message_type, status, max_retries, expires_at - created_at"
                        " FROM outbox_messages")
        self.assertEqual(row, (identity, "Command", "Pending", 7, 3 * 60 * 60 * 1000))
        self.crm.open.set()
        self.becomes(node, "Sent")
        message, = self.crm.messages()
        self.assertEqual((message["messageId"], message["messageType"]), (identity, "Command"))

    def test_only_the_messages_of_the_tenant_that_it_is_told_to_send_leave(self):
        rows = [{"tenant": tenant} for tenant in ("acme", "zeta", "acme", None)]
        node = self.shop('[outbox]\ntenant = "acme"\n', rows=rows)
        self.becomes(node, "Sent", 2)
        for tenant in ("zeta", "acme"):
            self.send(node, "--tenant", tenant)
        self.becomes(node, "Sent", 3)
        seen = node.sql("SELECT tenant, status FROM outbox_messages ORDER BY seq")
        self.assertEqual(seen, [("acme", "Sent"), ("zeta", "Pending"), ("acme", "Sent"),
                                (None, "Pending"), ("zeta", "Pending"), ("acme", "Sent")])
        self.assertEqual(len(self.crm.messages()), 3)
        # A node that serves all tenants sends the rest.
        self.assertEqual(node.stop(), 0)
        node.write(node.file.read_text().replace('tenant = "acme"\n', ""))
        node.start()
        self.becomes(node, "Sent", 6)

    def test_a_lane_that_leaves_a_message_too_little_time_is_warned_of_in_the_log(self):
        node = self.shop('[outbox]\nwindow = 100\nbatch_size = 1000\nattempt_timeout = "10s"\n')
        self.assertIn('"level":"warn"', node.log_text())
        line, = [line for line in node.log_text().splitlines() if '"Window":100' in line
                 and '"Destination":"crm"' in line]
        self.assertIn('"Batch":1000', line)

    def test_a_running_node_deletes_and_expires_what_is_past_its_time(self):
        node = self.shop('[outbox]\nsent_retention = "1d"\ncleanup_interval = "1s"\n')
        node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, status, sent_at) VALUES "
                 f"('crm', 'Bought', '1', 'Sent', {NOW_MS} - {2 * DAY_MS}), "
                 f"('crm', 'Bought', '2', 'Sent', {NOW_MS})")
        node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, created_at, expires_at)"
                 f" VALUES ('nowhere', 'Bought', '3', {NOW_MS} - {2 * DAY_MS}, {NOW_MS} - {DAY_MS})")
        left = lambda: node.sql("SELECT payload, status FROM outbox_messages ORDER BY seq")
        self.assertTrue(eventually(lambda: left() == [("2", "Sent"), ("3", "Expired")]),
                        (left(), node.log_text()))

    def test_a_peer_is_said_to_be_out_of_reach_until_it_answers(self):
        self.crm.close()
        node = self.shop('[outbox]\nretry_delay_base = "50ms"\nretry_delay_max = "50ms"\njitter_max = "0ms"\n',
                         rows=[{"max_retries": 1000}])
        reachable = lambda: [peer["reachable"] for peer in node.get_json("/_rf/outbox/stats")["peers"]
                             if peer["destination"] == "crm"]
        self.assertTrue(eventually(lambda: reachable() == [False]), node.log_text())

    def test_a_certificate_that_has_expired_is_not_the_message_and_is_named(self):
        certificates.make_all()
        server = certificates.ExpiredServer("vault")
        self.addCleanup(server.close)
        node = self.shop(f'[tls]\nauthority = "{certificates.files_of("vault")[0]}"\n'
                         '[outbox]\nretry_delay_base = "10ms"\nretry_delay_max = "10ms"\njitter_max = "0ms"\n',
                         rows=[{"max_retries": 1}], port=server.port, scheme="https")
        named = lambda: "check its certificate" in node.get("/_rf/outbox/lanes")
        self.assertTrue(eventually(named), (node.get("/_rf/outbox/lanes"), node.log_text()))
        self.assertEqual(node.sql("SELECT status, retry_count FROM outbox_messages"), [("Pending", 0)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
