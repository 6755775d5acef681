#!/usr/bin/env python3
"""The section [InboxOutbox] of a configuration: each of its names changes what a running node does.

inbox_outbox_test.py PROGRAM [InboxOutbox.test_…]
"""

import base64
import os
import re
import subprocess
import sys
import unittest

from node import Node, eventually
from peer import Peer, refused
from wire import Sender, envelope

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
DAY_MS = 24 * 60 * 60 * 1000
NOW_MS = "(CAST(strftime('%s', 'now') AS INTEGER) * 1000)"
OLD = (f"INSERT INTO outbox_messages (destination, endpoint, payload, status, sent_at) VALUES "
       f"('crm', 'x', 'days', 'Sent', {NOW_MS} - {8 * DAY_MS}), "
       f"('crm', 'x', 'hours', 'Sent', {NOW_MS} - {2 * DAY_MS})")


class InboxOutbox(unittest.TestCase):
    def setUp(self):
        self.crm = Peer("crm", "shop", SECRET)
        self.addCleanup(self.crm.close)

    def shop(self, **options):
        written = "".join(f"{name} = {value}\n" for name, value in options.items())
        node = Node(PROGRAM, "shop", f'[InboxOutbox]\n{written}[handlers]\nEcho = "sql:SELECT 1"\n'
                    f'[routes]\ncrm = "http://127.0.0.1:{self.crm.port}"\n'
                    f'[secrets]\ncrm = "{SECRET_TEXT}"\n').init()
        self.addCleanup(lambda: hasattr(node, "process") and node.process.poll() is None and node.kill())
        return node

    def send(self, node, count=1):
        for _ in range(count):
            subprocess.run([PROGRAM, "send", "crm", "Bought", "1", "--config", node.file], check=True,
                           stdout=subprocess.DEVNULL)

    def statuses(self, node):
        return [status for status, in node.sql("SELECT status FROM outbox_messages ORDER BY seq")]

    def until(self, node, statuses):
        self.assertTrue(eventually(lambda: self.statuses(node) == statuses),
                        (self.statuses(node), node.log_text()))

    def kept(self, node):
        return [payload for payload, in node.sql("SELECT payload FROM outbox_messages ORDER BY seq")]

    def sweeps(self, node):
        return int(re.search(r"^posthorn_outbox_sweeps_total (\d+)", node.get("/metrics"), re.MULTILINE)[1])

    def test_outbox_polling_interval_is_how_often_the_table_is_looked_through(self):
        node = self.shop(OutboxPollingInterval='"50ms"').start()
        self.assertTrue(eventually(lambda: self.sweeps(node) > 20), node.log_text())
        node.kill()
        slow = self.shop(OutboxPollingInterval='"01:00:00"').start()
        self.send(slow, 3)  # Found by their commits, not by a poll.
        self.until(slow, ["Sent"] * 3)

    def test_batch_size_is_how_many_messages_go_in_a_request(self):
        node = self.shop(BatchSize=2)
        self.send(node, 6)
        node.start()
        self.until(node, ["Sent"] * 6)
        self.assertEqual(max(len(request) for request in self.crm.requests), 2)

    def test_max_retries_and_the_delays_are_those_of_the_section(self):
        self.crm.decide = refused(500)
        node = self.shop(MaxRetries=3, RetryBaseDelayMilliseconds=100000, RetryMaxDelayMilliseconds=150000).start()
        self.send(node)
        pauses = []
        for number in (1, 2, 3):
            self.assertTrue(eventually(
                lambda: node.number("SELECT retry_count FROM outbox_messages") == number), node.log_text())
            pauses.append(node.number("SELECT next_retry_at - last_attempt_at FROM outbox_messages"))
            node.sql("UPDATE outbox_messages SET next_retry_at = 0")
        self.until(node, ["Dead"])
        self.assertEqual(len(self.crm.messages()), 4)
        for pause, base in zip(pauses, (100000, 150000, 150000)):
            self.assertTrue(base * 0.8 <= pause <= base * 1.2, pauses)

    def test_outbox_retention_days_and_the_cleanup_interval_delete_what_was_published(self):
        node = self.shop(OutboxRetentionDays=1, CleanupInterval='"00:00:01"')
        node.sql(OLD)
        node.start()
        self.assertTrue(eventually(lambda: self.kept(node) == []), node.log_text())
        node.kill()
        longer = self.shop(OutboxRetentionDays=7, CleanupInterval='"00:00:01"')
        longer.sql(OLD)
        longer.start()
        self.assertTrue(eventually(lambda: self.kept(longer) == ["hours"]), longer.log_text())

    def test_enable_automatic_cleanup_switches_deleting_off(self):
        node = self.shop(EnableAutomaticCleanup="false", OutboxRetentionDays=1, CleanupInterval='"00:00:01"',
                         OutboxPollingInterval='"00:00:01"')
        node.sql(OLD)
        node.start()
        self.assertTrue(eventually(lambda: self.sweeps(node) > 4))  # As many seconds, by its own count.
        self.assertEqual(self.kept(node), ["days", "hours"])

    def test_inbox_retention_days_is_how_long_an_event_is_remembered(self):
        node = self.shop(InboxRetentionDays=9).start()
        sender = Sender(node.port, "crm", "shop", SECRET)
        self.addCleanup(sender.connection.close)
        self.assertEqual(sender.send(envelope("crm", "Echo", 1))[0], 200)
        self.assertEqual(node.number("SELECT expires_at - processed_at FROM inbox_messages") // DAY_MS, 9)

    def test_enable_dead_letter_queue_decides_whether_what_is_given_up_waits_for_a_person(self):
        self.crm.decide = refused(422)
        for enabled, status in (("true", "Dead"), ("false", "Resolved")):
            with self.subTest(enabled):
                node = self.shop(EnableDeadLetterQueue=enabled).start()
                self.send(node)
                self.until(node, [status])
                wanted = "red" if status == "Dead" else "green"
                health = lambda: node.get_json("/_rf/health")["status"]
                self.assertTrue(eventually(lambda: health() == wanted), node.log_text())
                node.kill()
        self.assertIn("dead_letters", node.number("SELECT resolution FROM outbox_messages"))

    def test_dead_letter_retention_days_is_how_long_it_waits(self):
        self.crm.decide = refused(422)
        node = self.shop(DeadLetterRetentionDays=1, CleanupInterval='"00:00:01"').start()
        self.send(node)
        self.until(node, ["Dead"])
        node.sql(f"UPDATE outbox_closed SET at = {NOW_MS} - {2 * DAY_MS}")
        self.assertTrue(eventually(lambda: self.statuses(node) == []), node.log_text())

    def test_parallel_publishing_is_off_and_has_the_degree_that_is_given(self):
        for options, at_once in (({}, 1), ({"MaxDegreeOfParallelism": 3}, 1),
                                 ({"EnableParallelProcessing": "true"}, 4),
                                 ({"EnableParallelProcessing": "true", "MaxDegreeOfParallelism": 3}, 3)):
            with self.subTest(options):
                self.crm.at_once_max = 0
                self.crm.open.clear()
                node = self.shop(BatchSize=1, **options)
                self.send(node, 6)
                node.start()
                self.assertTrue(eventually(lambda: self.crm.at_once_max == at_once), node.log_text())
                self.crm.open.set()
                self.until(node, ["Sent"] * 6)
                self.assertEqual(self.crm.at_once_max, at_once)
                node.kill()

    def test_what_the_section_does_not_say_is_as_in_the_document(self):
        shown = subprocess.run([PROGRAM, "config", "show", "--config", self.shop(BatchSize=7).file],
                               capture_output=True, text=True, check=True).stdout
        for key, value in {"outbox.batch_size": "7", "outbox.poll_interval": "5s", "outbox.max_retries": "5",
                           "outbox.retry_delay_base": "1s", "outbox.retry_delay_max": "1m",
                           "outbox.sent_retention": "7d", "inbox.retention": "7d",
                           "outbox.cleanup_interval": "1h", "inbox.cleanup_interval": "1h",
                           "store.cleanup": "true", "outbox.dead_letters": "true",
                           "outbox.dead_retention": "30d", "outbox.window": "1"}.items():
            self.assertRegex(shown, rf"(?m)^\s*{re.escape(key)}\W+{value}\b")

    def test_a_name_that_the_document_does_not_have_is_refused_with_the_nearest(self):
        for option, said in ((("BatchSiz", 5), "did you mean 'BatchSize'"), (("MaxRetries", '"five"'), "InboxOutbox.MaxRetries")):
            with self.subTest(option):
                file = Node(PROGRAM, "shop", f"[InboxOutbox]\n{option[0]} = {option[1]}\n").file
                done = subprocess.run([PROGRAM, "config", "show", "--config", file], capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
