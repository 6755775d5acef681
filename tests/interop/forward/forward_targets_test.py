#!/usr/bin/env python3
"""Work that goes to another node or into another database by configuration alone: real nodes on SQLite, or on
the server that POSTHORN_TEST_POSTGRES names, which then has the other database too.

forward_targets_test.py PROGRAM [ForwardTargets.test_…]
"""

import json
import os
import sqlite3
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from line import Line
from node import eventually, new_folder
from server_node import node_of_this_run
from site_and_centre import SECRET_TEXT

PROGRAM = sys.argv.pop(1)
SERVER = os.environ.get("POSTHORN_TEST_POSTGRES")


class Historian:
    """A database of another program's, with a table that counts what is written."""

    def __init__(self):
        self.path = Path(new_folder()) / "historian.db"
        self.url, self.table = f"sqlite:{self.path}", "readings"
        if SERVER:
            self.url, self.table = Path(SERVER).read_text().strip(), f"readings_{uuid.uuid4().hex}"
        self.sql(f"CREATE TABLE {self.table} (id TEXT, value TEXT, place TEXT CHECK (place <> 'nowhere'))")

    def sql(self, statement):
        if SERVER:
            done = subprocess.run(["psql", self.url, "-qtA", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", statement],
                                  capture_output=True, text=True, check=True)
            return [tuple(line.split("\t")) for line in done.stdout.splitlines()]
        with sqlite3.connect(self.path, timeout=120) as db:
            return db.execute(statement).fetchall()

    def rows(self):
        return self.sql(f"SELECT id, value, place FROM {self.table} ORDER BY value")


class ForwardTargets(unittest.TestCase):
    def site(self, category, more=""):
        node = node_of_this_run(PROGRAM, "site", f"[forward]\ncategories = [{{ {category}, max_retries = 2,"
                                f" retry_seconds = 1 }}]\n{more}").init().start()
        self.addCleanup(node.kill)
        return node

    def hold(self, node, category, payload, target):
        id = str(uuid.uuid4())
        node.sql("INSERT INTO sf_messages (id, category, target, payload_json) VALUES (?, ?, ?, ?)", id, category, target,
                 json.dumps(payload))
        return id

    def status(self, node, id):
        return node.sql("SELECT Status FROM OperationTracking WHERE TrackedOperationId = ?", id)[0][0]

    def comes_to(self, node, id, status):
        self.assertTrue(eventually(lambda: self.status(node, id) == status), node.log_text()[-2000:])

    def again(self, node, id):
        """What was delivered is delivered again, as after a crash that forgot it."""
        node.sql("UPDATE outbox_messages SET status = 'Pending', sent_at = NULL, next_retry_at = 0 WHERE message_id = ?", id)
        self.assertTrue(eventually(lambda: node.sql(
            "SELECT status FROM outbox_messages WHERE message_id = ?", id) == [("Sent",)]), node.log_text()[-2000:])

    def writes(self, historian, once):
        return (f'name = "CachedDbWrite", database = "{historian.url}", once = {once}, to = "sql:INSERT INTO'
                f' {historian.table} (id, value, place) VALUES (:id, :payload, :target)"')

    def test_a_write_into_another_database_takes_effect_once_though_it_is_done_again(self):
        historian = Historian()
        site = self.site(self.writes(historian, "true"))
        ids = [self.hold(site, 2, {"n": n}, "press") for n in range(3)]
        for each in ids:
            self.comes_to(site, each, "Delivered")
        self.again(site, ids[0])
        self.assertEqual(historian.rows(), [(id, json.dumps({"n": n}), "press") for n, id in enumerate(ids)])

    def test_without_once_it_is_done_again_and_the_id_is_the_key(self):
        historian = Historian()
        site = self.site(self.writes(historian, "false"))
        id = self.hold(site, 2, {"n": 1}, "press")
        self.comes_to(site, id, "Delivered")
        self.again(site, id)
        self.assertEqual([row[0] for row in historian.rows()], [id, id])

    def test_what_the_database_refuses_counts_and_leaves_nothing_behind(self):
        historian = Historian()
        site = self.site(self.writes(historian, "true"))
        id = self.hold(site, 2, {}, "nowhere")
        self.comes_to(site, id, "Parked")
        self.assertEqual(historian.rows(), [])
        historian.sql(f"UPDATE {historian.table} SET place = NULL")
        self.assertIn("the database for nowhere says", site.sql("SELECT last_error FROM sf_messages")[0][0])
        ok = self.hold(site, 2, {}, "press")
        self.comes_to(site, ok, "Delivered")

    def test_another_node_takes_it_once_though_it_is_brought_again(self):
        stock = node_of_this_run(PROGRAM, "stock", '[handlers]\nRestock = "sql:INSERT INTO taken (n) VALUES (:n)"\n'
                                 f'[secrets]\nsite = "{SECRET_TEXT}"\n').init()
        stock.sql("CREATE TABLE taken (n INTEGER)")
        stock.start()
        self.addCleanup(stock.kill)
        line = Line(stock.port)
        self.addCleanup(line.close)
        site = self.site('name = "ExternalSystem", to = "node:stock/{target}"', f'[routes]\nstock ='
                         f' "http://127.0.0.1:{line.port}"\n[secrets]\nstock = "{SECRET_TEXT}"\n')
        line.cut()
        ids = [self.hold(site, 0, {"n": n}, "Restock") for n in range(3)]
        line.mend()
        for each in ids:
            self.comes_to(site, each, "Delivered")
        self.again(site, ids[0])
        self.assertEqual(sorted(stock.sql("SELECT n FROM taken")), [(0,), (1,), (2,)])
        lost = self.hold(site, 0, {"n": 9}, "Recount")  # There is no such handler; a person may add one.
        self.assertTrue(eventually(lambda: "no_handler" in str(site.sql(
            "SELECT last_error FROM outbox_messages WHERE message_id = ?", lost))), site.log_text()[-2000:])
        self.assertIn(self.status(site, lost), ("Submitted", "Retrying"))


if __name__ == "__main__":
    unittest.main()
