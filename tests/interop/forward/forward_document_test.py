#!/usr/bin/env python3
"""The scenarios and the troubleshooting entries of the store-and-forward document, by their names: three sites and
their centre as processes of their own, over lines that are cut and flap all the while.

forward_document_test.py PROGRAM [Document.test_…]
"""

import json
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from erp import Erp
from node import eventually
from site_and_centre import Centre, Site

PROGRAM = sys.argv.pop(1)
NAMES = ("north", "south", "west")


class Flapping:
    """Cuts and mends these lines, each in its own time, until it is calmed."""

    def __init__(self, lines):
        self.lines, self.calmed = lines, threading.Event()
        self.thread = threading.Thread(target=self._flap, daemon=True)
        self.thread.start()

    def _flap(self):
        beat = 0
        while not self.calmed.wait(0.05):
            beat += 1
            for place, line in enumerate(self.lines):
                line.cut() if (beat + place) % 3 else line.mend()

    def calm(self):
        self.calmed.set()
        self.thread.join()
        for line in self.lines:
            line.mend()


class Document(unittest.TestCase):
    def set_up_sites(self, names=NAMES, more=""):
        self.erp = Erp()
        self.addCleanup(self.erp.close)
        self.hq = Centre(PROGRAM, NAMES)
        self.addCleanup(self.hq.close)
        self.sites = []
        for service, name in zip(NAMES, names):
            site = Site(PROGRAM, service, name, self.hq.node.port, self.erp.url, more)
            self.addCleanup(site.close)
            self.hq.lines[service].target = site.node.port
            self.sites.append(site)
        self.flapping = Flapping([site.line for site in self.sites] + list(self.hq.lines.values()))
        self.addCleanup(self.flapping.calm)

    def hold(self, site, target, category=0, **more):
        return site.hold(category, {"order": 1}, target, **more)

    def comes_to(self, site, id, status):
        self.assertTrue(site.comes_to(id, status), (site.tracked(id), site.node.log_text()[-2000:]))

    def row(self, site, id, columns):
        found = site.node.sql(f"SELECT {columns} FROM sf_messages WHERE id = ?", id)
        return found[0] if found else None

    def expect_that_the_mirror_agrees(self):
        """With the lines mended, the centre knows of every call what its site knows."""
        self.flapping.calm()
        columns = "TrackedOperationId, Status, RetryCount"
        at_sites = {(site.node.service, *row) for site in self.sites
                    for row in site.node.sql(f"SELECT {columns} FROM OperationTracking")}
        seen = lambda: set(self.hq.node.sql(f"SELECT SourceService, {columns} FROM SiteCalls"))
        self.assertTrue(eventually(lambda: seen() == at_sites), (seen() ^ at_sites))

    def test_transient_failures_alone_are_buffered_and_a_permanent_one_is_parked_at_once(self):
        self.set_up_sites()
        self.erp.says = {"gone": 404, "busy": [500, 200]}
        held = [(site, self.hold(site, "gone"), self.hold(site, "busy")) for site in self.sites]
        for site, gone, busy in held:
            self.comes_to(site, gone, "Parked")
            self.comes_to(site, busy, "Delivered")
            self.assertEqual(self.row(site, gone, "status, last_error"), (2, "HTTP 404"))
            self.assertIsNone(self.row(site, busy, "status"))
            self.assertEqual((self.erp.ids("gone").count(gone), self.erp.ids("busy").count(busy)), (1, 2))
        self.expect_that_the_mirror_agrees()

    def test_the_retry_interval_is_fixed_and_there_is_no_largest_buffer(self):
        self.set_up_sites()
        self.erp.says = {"busy": 500}
        held = [(site, self.hold(site, "busy", max_retries=0, retry_interval_ms=60_000)) for site in self.sites]
        for retries in (1, 2, 3):
            for site, id in held:
                self.assertTrue(eventually(lambda: self.row(site, id, "retry_count") == (retries,)))
                [(pause,)] = site.node.sql(
                    "SELECT next_retry_at - last_attempt_at FROM outbox_messages WHERE message_id = ?", id)
                self.assertEqual(pause, 60_000)
                site.node.sql("UPDATE outbox_messages SET next_retry_at = 0 WHERE message_id = ?", id)  # It is due.
        for site in self.sites:
            self.erp.gate.clear()
            site.node.sql("INSERT INTO sf_messages (category, target, payload_json) SELECT 0, 'slow', '{}'"
                          " FROM (SELECT 1 AS a UNION SELECT 2 UNION SELECT 3) AS x,"
                          " (SELECT 1 AS b UNION SELECT 2 UNION SELECT 3) AS y")
            self.assertEqual(site.held(), 10)
        self.erp.gate.set()

    def test_the_retry_budget_parks_and_0_is_no_limit(self):
        self.set_up_sites()
        self.erp.says = {"busy": 500}
        held = [(site, self.hold(site, "busy", max_retries=2, retry_interval_ms=50),
                 self.hold(site, "busy", max_retries=0, retry_interval_ms=50)) for site in self.sites]
        for site, parked, never in held:
            self.comes_to(site, parked, "Parked")
            self.assertEqual(self.row(site, parked, "status, retry_count, max_retries"), (2, 2, 2))
            self.assertTrue(eventually(lambda: self.erp.ids("busy").count(never) >= 5))
            self.assertEqual(self.row(site, never, "status, max_retries"), (0, 0))
            self.assertEqual(self.erp.ids("busy").count(parked), 2)
        self.erp.says = {}
        for site, _, never in held:
            self.comes_to(site, never, "Delivered")
        self.expect_that_the_mirror_agrees()

    def test_messages_are_not_cleared_on_instance_deletion(self):
        self.set_up_sites()
        self.erp.says = {"gone": 404}
        for site in self.sites:
            site.node.sql("CREATE TABLE instances (name TEXT)")
            site.node.sql("INSERT INTO instances VALUES ('press')")
        held = [(site, self.hold(site, "gone", origin_instance="press")) for site in self.sites]
        for site, id in held:
            site.node.sql("DELETE FROM instances")
            self.comes_to(site, id, "Parked")
        self.expect_that_the_mirror_agrees()
        for site, id in held:
            [one] = self.hq.ask("forward", "parked", "--site", site.node.service)["messages"]
            self.assertEqual((one["id"], one["originInstance"]), (id, "press"))
            self.assertEqual(self.hq.node.sql("SELECT SourceInstanceId FROM SiteCalls WHERE TrackedOperationId = ?", id),
                             [("press",)])

    def test_cached_call_idempotency_is_the_callers_responsibility(self):
        self.set_up_sites()
        held = [(site, [self.hold(site, "orders") for _ in range(2)]) for site in self.sites]
        for site, ids in held:
            for id in ids:
                self.comes_to(site, id, "Delivered")
            self.assertEqual([self.erp.ids("orders").count(id) for id in ids], [1, 1])
        self.expect_that_the_mirror_agrees()

    def depth(self, site):
        name = "scadabridge_store_and_forward_queue_depth "
        [line] = [line for line in site.node.get("/metrics").splitlines() if line.startswith(name)]
        return int(line.removeprefix(name))

    def come_to_depth(self, depth):
        for site in self.sites:
            self.assertTrue(eventually(lambda: self.depth(site) == depth), (self.depth(site), depth))

    def test_the_queue_depth_gauge_is_seeded_raised_and_lowered(self):
        self.set_up_sites()
        self.erp.says = {"out": 502, "gone": 404}
        self.come_to_depth(0)
        for site in self.sites:
            for _ in range(3):
                self.hold(site, "out")
            site.node.kill()
            site.node.start()
            self.hq.lines[site.node.service].target = site.node.port
        self.come_to_depth(3)
        for site in self.sites:  # And the health report has it, once the target is known to be out.
            self.assertTrue(eventually(lambda: "3 operations wait for their targets, and 1 target is out"
                                       in site.node.get("/_rf/health")), site.node.get("/_rf/health"))
        parked = [(site, self.hold(site, "gone", retry_interval_ms=60_000)) for site in self.sites]
        for site, id in parked:
            self.comes_to(site, id, "Parked")
            self.assertIn('"Activity":"Parked"', site.node.log_text())  # The site's event log.
        self.come_to_depth(3)
        self.erp.says = {"out": 502, "gone": 500}
        for site, id in parked:
            site.node.sql("UPDATE sf_messages SET status = 0 WHERE id = ?", id)
        self.come_to_depth(4)
        self.erp.says = {}
        for site, id in parked:
            site.node.sql("UPDATE outbox_messages SET next_retry_at = 0 WHERE message_id = ?", id)
        self.come_to_depth(0)
        self.expect_that_the_mirror_agrees()

    def test_parked_message_management_answers_all_five_requests(self):
        self.set_up_sites()
        self.erp.says = {"gone": 404}
        held = [(site, [self.hold(site, "gone") for _ in range(3)]) for site in self.sites]
        for site, ids in held:
            for id in ids:
                self.comes_to(site, id, "Parked")
        self.expect_that_the_mirror_agrees()
        self.erp.says = {}
        for site, (one, two, three) in held:
            name = site.node.service
            listed = self.hq.ask("forward", "parked", "--site", name)["messages"]
            self.assertEqual([each["id"] for each in listed], [one, two, three])
            self.hq.ask("forward", "retry", one, "--site", name)
            self.comes_to(site, one, "Delivered")
            self.hq.ask("forward", "discard", two, "--site", name)
            self.assertEqual(site.tracked(two), "Discarded")
            self.hq.node.sql("INSERT INTO outbox_messages (message_type, destination, endpoint, payload)"
                             " VALUES ('Command', ?, 'RetryParkedOperation', ?)", name,
                             json.dumps({"TrackedOperationId": three}))
            self.comes_to(site, three, "Delivered")
        self.expect_that_the_mirror_agrees()

    def test_operation_tracking_answers_at_the_site_while_the_centre_is_gone(self):
        self.set_up_sites()
        self.flapping.calm()
        for site in self.sites:
            site.line.cut()
        self.erp.says = {"busy": [500, 200], "gone": 404}
        for site in self.sites:
            busy = self.hold(site, "busy", retry_interval_ms=60_000, source_script="ship.lua", origin_instance="press")
            self.comes_to(site, busy, "Retrying")
            site.node.sql("UPDATE outbox_messages SET next_retry_at = 0 WHERE message_id = ?", busy)
            self.comes_to(site, busy, "Delivered")
            [row] = site.node.sql(
                "SELECT Kind, TargetSummary, RetryCount, HttpStatus, SourceInstanceId, SourceScript, SourceNode,"
                " TerminalAtUtc >= CreatedAtUtc AND UpdatedAtUtc = TerminalAtUtc FROM OperationTracking"
                " WHERE TrackedOperationId = ?", busy)
            self.assertEqual(row[:7], ("ExternalSystem", "busy", 1, 200, "press", "ship.lua", site.node.service))
            self.assertIn(row[7], (1, "t"))
            gone = self.hold(site, "gone")
            self.comes_to(site, gone, "Parked")
            site.node.sql("DELETE FROM sf_messages WHERE id = ?", gone)
            self.assertEqual(site.tracked(gone), "Discarded")
        self.expect_that_the_mirror_agrees()

    def test_the_cached_call_observer_writes_an_audit_row_for_every_attempt_and_tells_the_centre(self):
        self.set_up_sites()
        self.erp.says = {"busy": [500, 500, 200]}
        for site in self.sites:
            id = self.hold(site, "busy", max_retries=9, retry_interval_ms=50, execution_id="e1", parent_execution_id="e0",
                           source_script="ship.lua", origin_instance="press")
            self.comes_to(site, id, "Delivered")
            rows = site.node.sql(
                "SELECT Attempt, Channel, Target, SourceSite, Outcome, RetryCount, HttpStatus, SourceInstanceId,"
                " ExecutionId, SourceScript, ParentExecutionId FROM forward_audit WHERE TrackedOperationId = ?"
                " ORDER BY Attempt", id)
            same = ("press", "e1", "ship.lua", "e0")
            name = site.node.service
            self.assertEqual(rows, [(1, "ApiOutbound", "busy", name, "TransientFailure", 1, 500, *same),
                                    (2, "ApiOutbound", "busy", name, "TransientFailure", 2, 500, *same),
                                    (3, "ApiOutbound", "busy", name, "Delivered", 2, 200, *same)])
            told = site.node.get_json(f"/_rf/forward/tracking/{id}/attempts")["attempts"]
            self.assertEqual([each["outcome"] for each in told], ["Delivered", "TransientFailure", "TransientFailure"])
            self.flapping.calm()
            self.assertTrue(eventually(lambda: self.hq.call(id) == ("Delivered", 3)), self.hq.call(id))

    def test_a_message_stays_in_the_pending_queue_and_is_never_delivered(self):
        self.set_up_sites()
        held = [(site, self.hold(site, "plant.db", category=2)) for site in self.sites]
        for site, id in held:
            self.assertTrue(eventually(lambda: "no handler for category CachedDbWrite" in site.node.log_text()))
            self.assertEqual(self.row(site, id, "status, retry_count"), (0, 0))
            self.assertEqual(site.tracked(id), "Submitted")

    def test_a_parked_cached_call_does_not_respond_to_retry_from_the_central_ui(self):
        self.set_up_sites()
        self.erp.says = {"gone": 404}
        held = [(site, self.hold(site, "gone")) for site in self.sites]
        for site, id in held:
            self.comes_to(site, id, "Parked")
        self.expect_that_the_mirror_agrees()
        self.erp.says = {}
        for form, (site, id) in zip((str, lambda id: id.replace("-", ""), str.upper), held):
            self.hq.ask("forward", "retry", form(id), "--site", site.node.service)
            self.comes_to(site, id, "Delivered")
        self.assertIn("is not the id of an operation", self.hq.ask("forward", "retry", "17", "--site", "north", fails=True))

    def test_unknown_site_appears_in_central_audit_rows_for_a_sites_cached_calls(self):
        self.set_up_sites(names=(None, " ", "   "))
        held = [(site, self.hold(site, "orders")) for site in self.sites]
        for site, id in held:
            self.comes_to(site, id, "Delivered")
        self.expect_that_the_mirror_agrees()
        rows = self.hq.node.sql("SELECT SourceSite, SourceService FROM SiteCalls ORDER BY SourceService")
        self.assertEqual(rows, [("$unknown-site", name) for name in NAMES])


if __name__ == "__main__":
    unittest.main()
