#!/usr/bin/env python3
"""The desk's pages of workflows in Debian's Chromium, against a program that runs them.

    workflows_test.py PROGRAM NODE_MODULES SHOP [CASE...]
"""

import json
import sys
import unittest

from desk_case import MARKUP, DeskCase, admin_key
from node import Node, eventually, new_folder

SHOP = sys.argv.pop(1)


class Workflows(DeskCase):
    SCRIPT = "workflows.js"

    def setUp(self):
        self.operator = admin_key("night-shift", "--role", "operator", "--payloads")
        self.viewer = admin_key("wall", "--role", "viewer")
        keys = ", ".join(f'{{ name = "{name}", role = "{role}", hash = "{key["hash"]}", payloads = {rights} }}'
                         for name, role, key, rights in [("night-shift", "operator", self.operator, "true"),
                                                         ("wall", "viewer", self.viewer, "false")])
        self.shop = Node(SHOP, "shop", f"[admin]\nkeys = [{keys}]\n", new_folder()).start()
        self.addCleanup(lambda: self.shop.process.poll() is None and self.shop.stop())

    def browse(self, case, **more):
        self.run_case(case, {"shop": f"http://127.0.0.1:{self.shop.admin}", "operator": self.operator["key"],
                             "viewer": self.viewer["key"], "markup": MARKUP, **more})

    def begin(self, *ids):
        """Orders that wait for a decision."""
        for each in ids:
            self.shop.sql("INSERT INTO workflow_instances (workflow, id, arguments) VALUES ('Approve', ?, ?)",
                          each, json.dumps([{"id": each, "cents": 995}]))
        waiting = "SELECT count(*) FROM workflow_waits"
        self.assertTrue(eventually(lambda: self.shop.number(waiting) == len(ids)), self.shop.log_text()[-3000:])

    def status(self, which="o1"):
        return self.shop.number("SELECT status FROM workflow_instances WHERE id = ?", which)

    def test_one_is_followed_step_by_step_and_told_a_signal(self):
        self.browse("none")
        self.begin("o1")
        self.browse("tell")
        self.assertEqual(self.status(), "completed")

    def test_those_that_are_asked_for_are_listed_in_pages(self):
        self.shop.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
                      " INSERT INTO workflow_instances (workflow, id, status, version, ended_at)"
                      " SELECT 'Old', 'e' || i, 'completed', 1, 0 FROM n")
        self.begin("o1", "o2")
        self.browse("list")

    def test_one_is_paused_resumed_and_cancelled_with_a_reason(self):
        self.begin("a/b c")
        self.browse("turns")
        self.assertEqual(self.status("a/b c"), "cancelled")
        [[undone]] = self.shop.sql("SELECT count(*) FROM outbox_messages WHERE endpoint LIKE '%Release'")
        self.assertEqual(undone, 1)

    def test_a_quarantine_names_the_step_with_what_was_recorded_and_what_the_code_does(self):
        self.begin("o1")
        self.shop.stop()
        self.shop.environment["POSTHORN_SHOP"] = "changed"
        self.shop.start()
        self.shop.sql("INSERT INTO workflow_signals (signal, payload) VALUES"
                      " ('Decided', '{\"orderId\":\"o1\",\"by\":\"ann\",\"approved\":true}')")
        self.assertTrue(eventually(lambda: self.status() == "quarantined"), self.shop.log_text()[-3000:])
        gauge = 'posthorn_workflow_open{workflow="Approve",version="1",status="quarantined"} 1\n'
        self.assertTrue(eventually(lambda: gauge in self.shop.get("/metrics", self.viewer["key"])))
        self.browse("quarantine")
        self.shop.stop()
        self.shop.environment.pop("POSTHORN_SHOP")
        self.shop.start()
        self.browse("resume")
        self.assertEqual(self.status(), "completed")

    def test_a_viewer_looks_and_neither_changes_nor_reads_payloads(self):
        self.begin("o1")
        self.browse("viewer")
        self.assertEqual(self.status(), "running")

    def test_pages_are_accessible_narrow_and_dark(self):
        self.begin("o1")
        self.browse("looks")


if __name__ == "__main__":
    unittest.main()
