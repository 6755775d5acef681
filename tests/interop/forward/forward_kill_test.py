#!/usr/bin/env python3
"""A site that is killed with -9 while work is stored, attempted and settled, and its centre: processes of their own,
on SQLite, or on the server that POSTHORN_TEST_POSTGRES names.

forward_kill_test.py PROGRAM [ForwardKill.test_…]
"""

import os
import signal
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from erp import Erp
from node import eventually
from site_and_centre import Centre, Site

PROGRAM = sys.argv.pop(1)


class ForwardKill(unittest.TestCase):
    def setUp(self):
        self.erp = Erp()
        self.addCleanup(self.erp.close)
        self.hq = Centre(PROGRAM, ("plant",))
        self.addCleanup(self.hq.close)
        self.site = Site(PROGRAM, "plant", "plant 7", self.hq.node.port, self.erp.url)
        self.addCleanup(self.site.close)
        self.held = []

    def hold(self, count):
        for _ in range(count):
            self.held.append(self.site.hold(0, {"order": 1}, "orders"))

    def expect_that_nothing_is_lost_or_told_twice(self):
        site, erp = self.site, self.erp
        self.assertTrue(eventually(lambda: site.held() == 0), site.node.log_text()[-2000:])
        self.assertEqual({id for _, id, _ in erp.seen}, set(self.held))
        told = "SELECT TrackedOperationId, {} FROM {} GROUP BY TrackedOperationId ORDER BY 1"
        self.assertEqual(site.node.sql(told.format("min(Status)", "OperationTracking")),
                         sorted((id, "Delivered") for id in self.held))
        self.assertEqual(site.node.sql("SELECT sum(waiting), sum(parked), sum(bytes) FROM forward_totals"), [(0, 0, 0)])
        attempts = site.node.sql(told.format("count(*)", "forward_audit"))
        self.assertTrue(eventually(
            lambda: self.hq.node.sql(told.format("max(Attempts)", "SiteCalls")) == attempts), attempts)

    def test_while_it_is_stored(self):
        for before in (0, 6):
            storing = threading.Thread(target=self.hold, args=(6,))
            storing.start()
            self.assertTrue(eventually(lambda: len(self.held) >= before + 2))
            self.site.node.kill()
            storing.join()
            self.site.node.start()
        self.expect_that_nothing_is_lost_or_told_twice()

    def test_while_it_is_attempted(self):
        for _ in range(2):
            before = len(self.erp.seen)
            self.erp.gate.clear()
            self.hold(3)
            self.assertTrue(eventually(lambda: len(self.erp.seen) > before))
            self.site.node.kill()
            self.erp.gate.set()
            self.site.node.start()
        self.expect_that_nothing_is_lost_or_told_twice()

    def test_while_what_came_of_it_is_recorded(self):
        for _ in range(3):
            killed = threading.Event()

            def kill(_):
                if not killed.is_set():
                    killed.set()
                    os.kill(self.site.node.process.pid, signal.SIGKILL)

            self.erp.on_answer = kill
            self.hold(3)
            self.assertTrue(killed.wait(60))
            self.site.node.kill()
            self.erp.on_answer = lambda _: None
            self.site.node.start()
        self.expect_that_nothing_is_lost_or_told_twice()


if __name__ == "__main__":
    unittest.main()
