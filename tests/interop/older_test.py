#!/usr/bin/env python3
"""Databases of earlier steps of the tables, opened by today's program.

older_test.py PROGRAM [OlderTables.test_…]

older/sqlite_store_N.sql is what the program of that time made at step N, with a few rows. A step
that lands gets its file before the next one does; none of them is ever changed.
older/sqlite_webhook_N.sql, older/sqlite_forward_N.sql and older/sqlite_workflow_N.sql have the
tables of webhooks, of store-and-forward and of workflows at step N, beside the store's newest file.
"""

import base64
import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

from node import Node, eventually
from peer import Peer
from wire import Sender, envelope

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
FILES = {int(re.search(r"_(\d+)\.sql$", str(file))[1]): file
         for file in (Path(__file__).parent / "older").glob("sqlite_store_*.sql")}
WEBHOOKS = {int(re.search(r"_(\d+)\.sql$", str(file))[1]): file
            for file in (Path(__file__).parent / "older").glob("sqlite_webhook_*.sql")}
FORWARDS = {int(re.search(r"_(\d+)\.sql$", str(file))[1]): file
            for file in (Path(__file__).parent / "older").glob("sqlite_forward_*.sql")}
WORKFLOWS = {int(re.search(r"_(\d+)\.sql$", str(file))[1]): file
             for file in (Path(__file__).parent / "older").glob("sqlite_workflow_*.sql")}
PENDING, SENT, DEAD, RECEIVED = (f"01900000-0000-7000-8000-00000000000{i}" for i in (1, 2, 3, 9))


def squeezed(sql):
    """Without comments and white space, in which a definition may differ from itself."""
    bare = re.sub(r"('(?:[^']|'')*')|--[^\n]*", lambda found: found[1] or "", sql or "")
    return re.sub(r"\s+|IF NOT EXISTS", "", bare)


def shape(node):
    """Columns of every table; definitions of indexes, triggers and views."""
    tables = [name for name, in node.sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {name: sorted(row[1:4] + row[5:] for row in node.sql(f"PRAGMA table_info({name})"))
               for name in tables}
    others = {name: squeezed(sql) for name, sql in
              node.sql("SELECT name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL")}
    return columns, others


class OlderTables(unittest.TestCase):
    def setUp(self):
        self.crm = Peer("crm", "orders", SECRET)
        self.addCleanup(self.crm.close)

    def node(self):
        return Node(PROGRAM, "orders", f'[routes]\ncrm = "http://127.0.0.1:{self.crm.port}"\n'
                    f'[secrets]\ncrm = "{SECRET_TEXT}"\n[handlers]\nRefund = "sql:SELECT 1 AS n"\n')

    def older(self, step, *more):
        node = self.node()
        with sqlite3.connect(node.database) as db:
            for file in (FILES[step], *more):
                db.executescript(file.read_text())
        return node

    def run_command(self, node, *words):
        return subprocess.run([PROGRAM, *words, "--config", node.file], check=True, text=True,
                              capture_output=True).stdout

    def newest(self, node):
        return dict(node.sql("SELECT folder, max(number) FROM posthorn_migrations GROUP BY folder"))

    def test_there_is_a_file_of_every_step_before_the_newest(self):
        steps = self.newest(self.node().init())
        self.assertGreaterEqual(FILES.keys(), set(range(1, steps["store"])), steps)
        self.assertGreaterEqual(WEBHOOKS.keys(), set(range(1, steps["webhook"])), steps)
        self.assertGreaterEqual(FORWARDS.keys(), set(range(1, steps["forward"])), steps)
        self.assertGreaterEqual(WORKFLOWS.keys(), set(range(1, steps["workflow"])), steps)
        # queue_of_before.* opens a queue of its first step.
        self.assertEqual({folder: step for folder, step in steps.items()
                          if folder not in ("store", "webhook", "forward", "workflow") and step > 1},
                         {"inbox/queue": 2}, "a folder has a second step: a file of its first one is due")

    def test_an_older_file_becomes_what_a_new_one_is(self):
        new = self.node().init()
        self.assertGreaterEqual(len(FILES), 7)
        for step in sorted(FILES):
            with self.subTest(step=step):
                old = self.older(step).init()
                self.assertEqual(self.newest(old), self.newest(new))
                for was, is_ in zip(shape(old), shape(new)):
                    self.assertEqual(was, is_)

    def test_webhooks_of_an_older_file_become_what_new_ones_are_and_are_kept(self):
        new = self.node().init()
        for step, file in sorted(WEBHOOKS.items()):
            with self.subTest(step=step):
                old = self.older(max(FILES), file)
                [(rows,)] = old.sql("SELECT count(*) FROM webhook_subscriptions")
                old.init()
                self.assertEqual(self.newest(old), self.newest(new))
                for was, is_ in zip(shape(old), shape(new)):
                    self.assertEqual(was, is_)
                listed = json.loads(self.run_command(old, "webhooks", "list", "--json"))["subscriptions"]
                self.assertEqual((len(listed), rows), (1, 1))
                self.assertEqual((listed[0]["url"], listed[0]["tenant"], listed[0]["maxRetries"]),
                                 ("https://shop.example/hook", "acme", 3))

    def test_a_table_of_the_applications_under_a_name_of_the_webhook_document_stays(self):
        old = self.older(max(FILES), WEBHOOKS[2])
        old.sql("DROP VIEW OutboxMessages")
        old.sql("CREATE TABLE OutboxMessages (mine)")
        old.sql("INSERT INTO OutboxMessages VALUES ('kept')")
        old.init().init()
        self.assertEqual(old.sql("SELECT * FROM OutboxMessages"), [("kept",)])
        self.assertEqual(self.newest(old), self.newest(self.node().init()))
        self.assertEqual(old.number("SELECT HttpStatusCode FROM DeliveryAttempts WHERE WebhookSubscriptionId <> ''"),
                         204)

    def test_held_work_of_an_older_file_is_kept_in_tables_as_new_ones_are(self):
        new = self.node().init()
        for step, file in sorted(FORWARDS.items()):
            with self.subTest(step=step):
                old = self.older(max(FILES), file)
                old.init()
                self.assertEqual(self.newest(old), self.newest(new))
                for was, is_ in zip(shape(old), shape(new)):
                    self.assertEqual(was, is_)
                listed = json.loads(self.run_command(old, "forward", "list", "--json"))["messages"]
                self.assertEqual([(one["id"][-2:], one["target"], one["status"]) for one in listed],
                                 [("f1", "erp", "waiting")])

    def test_workflows_of_an_older_file_are_kept_in_tables_as_new_ones_are(self):
        new = self.node().init()
        for step, file in sorted(WORKFLOWS.items()):
            with self.subTest(step=step):
                old = self.older(max(FILES), file)
                old.init()
                self.assertEqual(self.newest(old), self.newest(new))
                for was, is_ in zip(shape(old), shape(new)):
                    self.assertEqual(was, is_)
                listed = json.loads(self.run_command(old, "workflow", "list", "--json"))["workflows"]
                self.assertEqual([(one["id"], one["status"]) for one in listed],
                                 [("done", "completed"), ("open", "running")])
                shown = json.loads(self.run_command(old, "workflow", "show", "Approve", "open", "--json"))
                self.assertEqual((shown["steps"], shown["waitsFor"], shown["state"]),
                                 (1, ['Decided where orderId == "o1"'], {"now": "waiting"}))

    def test_opening_again_and_again_changes_neither_tables_nor_rows(self):
        for node in (self.node().init(), self.older(max(FILES)).init()):
            rows = lambda: [node.sql(f"SELECT * FROM {table}")
                            for table in ("outbox_messages", "inbox_messages", "posthorn_migrations")]
            before = shape(node), rows()
            for _ in range(3):
                node.init()
            self.assertEqual((shape(node), rows()), before)

    def test_what_an_older_file_holds_is_sent_requeued_and_recognised(self):
        for step in sorted(FILES):
            with self.subTest(step=step):
                self.crm.requests.clear()
                node = self.older(step).start()
                self.addCleanup(lambda: node.process.poll() is None and node.kill())
                sent = lambda: [one["messageId"] for one in self.crm.messages()]
                self.assertTrue(eventually(lambda: sent() == [PENDING]), (sent(), node.log_text()))
                sender = Sender(node.port, "crm", "orders", SECRET)
                repeat = envelope("crm", "Refund", {"amount": 3}, messageId=RECEIVED)
                status, answer, signed = sender.send(repeat)
                sender.connection.close()
                self.assertEqual((status, answer["duplicateDetected"], answer["payload"], signed),
                                 (200, True, {"done": True}, True), answer)
                self.assertIn(DEAD, self.run_command(node, "dead", "list"))
                self.run_command(node, "dead", "requeue", DEAD)
                settled = lambda: node.sql("SELECT message_id, status FROM outbox_messages ORDER BY seq")
                self.assertTrue(eventually(
                    lambda: settled() == [(PENDING, "Sent"), (SENT, "Sent"), (DEAD, "Sent")]),
                    (settled(), node.log_text()))
                self.assertEqual(sent(), [PENDING, DEAD])
                self.assertEqual(node.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
