#!/usr/bin/env python3
"""How much a site holds, and how it works that off, by configuration and plain SQL alone: a real node
on SQLite, or on the server that POSTHORN_TEST_POSTGRES names.

forward_limits_test.py PROGRAM [ForwardLimits.test_…]
"""

import json
import subprocess
import sys
import unittest
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import eventually
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)


class ForwardLimits(unittest.TestCase):
    def setUp(self):
        self.erp = AnsweringReceiver(200, "thanks")
        self.addCleanup(self.erp.close)

    def start(self, settings="", category=""):
        self.site = node_of_this_run(
            PROGRAM, "site", f'[forward]\n{settings}\ncategories = [{{ name = "ExternalSystem",'
            f' to = "{self.erp.url}/{{target}}", retry_seconds = 1, timeout_seconds = 60{category} }}]\n').init().start()
        self.addCleanup(self.site.kill)
        self.addCleanup(self.erp.gate.set)

    def hold(self, number, target="orders"):
        id = str(uuid.uuid4())
        self.site.sql("INSERT INTO sf_messages (id, category, target, payload_json) VALUES (?, 0, ?, ?)",
                      id, target, json.dumps({"order": number}))
        return id

    def status(self, id):
        return self.site.get_json(f"/_rf/forward/tracking/{id}")["status"]

    def comes_to(self, id, status):
        self.assertTrue(eventually(lambda: self.status(id) == status), self.site.log_text()[-2000:])

    def stats(self):
        return self.site.get_json("/_rf/forward")["categories"][0]

    def held(self):
        return self.site.number("SELECT count(*) FROM sf_messages")

    def worries(self):
        return json.dumps(self.site.get_json("/_rf/health"))

    def test_what_was_delivered_is_not_counted_any_more(self):
        self.start()
        for number in range(3):
            self.comes_to(self.hold(number), "Delivered")
        stats = self.stats()
        self.assertEqual((stats["waiting"], stats["parked"], stats["bytes"]), (0, 0, 0))

    def test_what_is_being_sent_cannot_be_discarded(self):
        self.start()
        self.erp.gate.clear()
        id = self.hold(1)
        self.assertTrue(eventually(lambda: len(self.erp.requests) == 1))
        said = subprocess.run([PROGRAM, "forward", "discard", id, "--config", self.site.file],
                              capture_output=True, text=True)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("nothing is parked", said.stderr)
        self.erp.gate.set()
        self.comes_to(id, "Delivered")

    def test_plain_sql_past_a_cap_is_refused_and_health_says_so(self):
        self.start("max_messages = 3")
        self.erp.gate.clear()
        held = [self.hold(number) for number in range(3)]
        with self.assertRaisesRegex(Exception, "buffer_full|returned non-zero"):
            self.hold(3)
        self.assertEqual(self.held(), 3)
        self.assertTrue(eventually(lambda: "more is refused" in self.worries()), self.worries())
        self.erp.gate.set()
        for id in held:
            self.comes_to(id, "Delivered")
        self.comes_to(self.hold(4), "Delivered")

    def test_the_oldest_is_dropped_at_a_cap_but_never_one_that_is_being_sent(self):
        self.start('max_messages = 10\nwhen_full = "drop_oldest"')
        self.erp.gate.clear()
        ids = [self.hold(number) for number in range(30)]
        self.assertTrue(eventually(lambda: self.held() <= 18), self.site.log_text()[-2000:])
        sent = [id for id in ids if any(each["headers"]["Idempotency-Key"] == id for each in self.erp.requests)]
        self.assertTrue(sent)
        self.assertTrue(eventually(lambda: "dropped to keep within a cap" in self.worries()), self.worries())
        self.erp.gate.set()
        for id in sent:
            self.comes_to(id, "Delivered")
        self.comes_to(ids[-1], "Delivered")
        self.assertTrue(eventually(lambda: self.held() == 0))
        dropped = sum(self.status(id) == "Discarded" for id in ids)
        self.assertGreaterEqual(dropped, 12)  # A target has at most eight on their way.
        self.assertEqual(dropped + len(self.erp.requests), 30)
        self.assertIn(f'posthorn_forward_dropped_total{{category="ExternalSystem"}} {dropped}',
                      self.site.get("/metrics"))

    def test_a_cap_below_what_is_held_brings_it_down_and_parked_work_counts(self):
        self.start()
        self.erp.status = 400
        ids = [self.hold(number) for number in range(8)]
        for id in ids:
            self.comes_to(id, "Parked")
        self.site.stop()
        self.site.write(self.site.file.read_text().replace("[forward]", '[forward]\nmax_messages = 5\nwhen_full = "drop_oldest"'))
        self.site.start()
        self.assertTrue(eventually(lambda: self.held() == 5), self.site.log_text()[-2000:])
        self.assertEqual([self.status(id) for id in ids], ["Discarded"] * 3 + ["Parked"] * 5)

    def test_what_is_too_old_is_dropped(self):
        self.start(category=", max_age_seconds = 1")
        self.erp.status = 500
        id = self.hold(1)
        self.comes_to(id, "Discarded")
        self.assertEqual(self.held(), 0)

    def test_a_backlog_is_replayed_after_its_target_has_settled(self):
        self.start('replay_settle_time = "1s"\nreplay_rate = 20.0\nreplay_ramp = "0s"')
        self.erp.status = 502
        ids = [self.hold(number) for number in range(40)]
        self.assertTrue(eventually(lambda: self.stats().get("phase") == "outage"), self.site.log_text()[-2000:])
        [target] = self.site.get_json("/_rf/forward/replays")["targets"]
        self.assertEqual((target["category"], target["target"], target["phase"]), ("ExternalSystem", "orders", "outage"))
        self.erp.status = 200
        self.assertTrue(eventually(lambda: self.stats().get("phase") == "replaying"), self.stats())
        for id in ids:
            self.comes_to(id, "Delivered")
        self.assertTrue(eventually(lambda: "phase" not in self.stats()), self.stats())


if __name__ == "__main__":
    unittest.main()
