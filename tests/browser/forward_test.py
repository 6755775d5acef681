#!/usr/bin/env python3
"""The desk's pages of store-and-forward in Debian's Chromium, against a real site and a real target.

    forward_test.py PROGRAM NODE_MODULES [CASE...]
"""

import json
import sys
import unittest
import uuid
from pathlib import Path

from desk_case import MARKUP, PROGRAM, DeskCase, admin_key
sys.path.insert(0, str(Path(__file__).parents[1] / "interop" / "forward"))
from node import Node, eventually, new_folder
from site_and_centre import Centre, Site
from webhook_receiver import AnsweringReceiver


class Forward(DeskCase):
    """A site with a target that answers what a case wants."""

    SCRIPT = "forward.js"

    def setUp(self):
        made = admin_key("shift", "--role", "operator")
        self.operator = made["key"]
        self.erp = AnsweringReceiver(404, f"no such line {MARKUP}")
        self.addCleanup(self.erp.close)
        self.site = Node(PROGRAM, "site", '[forward]\nsite = "plant 7"\ncategories = [{ name = "ExternalSystem", '
                         f'to = "{self.erp.url}/{{target}}", max_retries = 2, retry_seconds = 1 }}]\n'
                         f'[admin]\nkeys = [{{ name = "shift", role = "operator", hash = "{made["hash"]}" }}]\n',
                         new_folder()).init().start()
        self.addCleanup(self.site.kill)

    def hold(self, number):
        id = str(uuid.uuid4())
        self.site.sql("INSERT INTO sf_messages (id, category, target, payload_json, origin_instance)"
                      " VALUES (?, 0, ?, ?, ?)", id, f"line {MARKUP}", json.dumps({"order": number}), "press")
        return id

    def count(self, where):
        return self.site.number(f"SELECT count(*) FROM sf_messages WHERE {where}")

    def park(self, number):
        ids = [self.hold(i) for i in range(number)]
        self.assertTrue(eventually(lambda: self.count("status = 2") == number), self.site.log_text()[-3000:])
        return ids

    def browse(self, case, **more):
        self.run_case(case, {"site": f"http://127.0.0.1:{self.site.admin}", "operator": self.operator,
                             "markup": MARKUP} | more)

    def test_what_is_parked_is_found_by_its_category_told_why_and_retried_or_discarded(self):
        first, second = self.park(2)
        self.erp.status, self.erp.body = 200, "thanks"
        self.browse("cure", first=first, second=second)
        self.assertEqual(self.count("true"), 0)
        states = dict(self.site.sql('SELECT "TrackedOperationId", "Status" FROM "OperationTracking"'))
        self.assertEqual(states, {first: "Delivered", second: "Discarded"})

    def test_all_that_a_category_has_parked_is_retried_at_once(self):
        self.park(103)  # More than a page.
        self.erp.status, self.erp.body = 200, "thanks"
        self.browse("retry_all", number=103)
        self.assertTrue(eventually(lambda: self.count("true") == 0), self.site.log_text()[-3000:])

    def test_a_centre_shows_what_its_sites_have_parked_and_retries_or_discards_it_there(self):
        hq = Centre(PROGRAM, ("plant", "depot"))
        self.addCleanup(hq.close)
        ids = {}
        for service, name in (("plant", "plant 7"), ("depot", None)):
            made = Site(PROGRAM, service, name, hq.node.port, self.erp.url)
            self.addCleanup(made.close)
            hq.lines[service].target = made.node.port
            ids[service] = made.hold(0, {"order": 1}, f"line {MARKUP}", origin_instance=f"{service} press")
            self.assertTrue(eventually(lambda: hq.call(ids[service]) == ("Parked", 1)), made.node.log_text()[-2000:])
        self.erp.status, self.erp.body = 200, "thanks"
        self.browse("centre", site=f"http://127.0.0.1:{hq.node.admin}", operator=hq.key, ids=ids)
        self.assertTrue(eventually(lambda: (hq.call(ids["plant"]), hq.call(ids["depot"])) ==
                                   (("Delivered", 2), ("Discarded", 1))))

    def test_an_id_that_is_not_known_is_said_in_words(self):
        self.browse("unknown", id=str(uuid.uuid4()))


unittest.main()
