#!/usr/bin/env python3
"""A site that holds work for a web service which is out, by configuration and plain SQL alone: a real
node on SQLite, or on the server that POSTHORN_TEST_POSTGRES names.

forward_test.py PROGRAM [Forward.test_…]
"""

import http.client
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


class Forward(unittest.TestCase):
    def setUp(self):
        self.erp = AnsweringReceiver(200, "thanks")
        self.addCleanup(self.erp.close)
        made = json.loads(subprocess.run([PROGRAM, "keys", "admin", "new", "--name", "o", "--role", "operator",
                                          "--json"], check=True, capture_output=True, text=True).stdout)
        self.key = made["key"]
        self.site = node_of_this_run(
            PROGRAM, "site", f'[forward]\nsite = "plant 7"\ncategories = [{{ name = "ExternalSystem",'
            f' to = "{self.erp.url}/{{target}}", max_retries = 2, retry_seconds = 1 }}]\n'
            f'[admin]\nkeys = [{{ name = "o", role = "operator", hash = "{made["hash"]}" }}]\n').init().start()
        self.addCleanup(self.site.kill)

    def hold(self, payload, target="orders", **more):
        names = ["id", "category", "target", "payload_json", *more]
        id = str(uuid.uuid4())
        self.site.sql(f"INSERT INTO sf_messages ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                      id, 0, target, json.dumps(payload), *more.values())
        return id

    def ask(self, method, path, expect=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.site.admin, timeout=120)
        connection.request(method, "/_rf/forward" + path, headers={"Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, expect, told)
        return told

    def track(self, id):
        return self.ask("GET", f"/tracking/{id}")

    def comes_to(self, id, status):
        self.assertTrue(eventually(lambda: self.track(id)["status"] == status), self.site.log_text()[-2000:])
        return self.track(id)

    def test_a_row_of_plain_sql_is_posted_with_its_id_as_the_key_of_a_repeat(self):
        id = self.hold({"order": 1}, target="line 3", origin_instance="press")
        told = self.comes_to(id, "Delivered")
        self.assertEqual((told["httpStatus"], told["sourceNode"], told["sourceInstance"]), (200, "plant 7", "press"))
        [request] = self.erp.requests
        self.assertEqual(json.loads(request["body"]), {"order": 1})
        self.assertEqual(request["headers"]["Idempotency-Key"], id)
        self.assertEqual(request["headers"]["rf-target"], "line 3")
        self.assertEqual(self.site.number("SELECT count(*) FROM sf_messages"), 0)

    def test_what_fails_is_parked_found_and_sent_again_by_a_person_with_an_id_of_either_form(self):
        self.erp.status, self.erp.body = 500, "no paper"
        id = self.hold({"order": 2})
        self.assertEqual(self.comes_to(id, "Parked")["lastError"], "HTTP 500: no paper")
        self.assertEqual(len(self.erp.requests), 2)
        [one] = self.ask("GET", "/messages?status=parked&category=ExternalSystem")["messages"]
        self.assertEqual((one["id"], one["retryCount"], one["lastError"]), (id, 2, "HTTP 500: no paper"))
        self.assertTrue(eventually(lambda: "1 operation is parked" in json.dumps(self.site.get_json("/_rf/health", self.key))))
        self.erp.status = 200
        self.assertEqual(self.ask("POST", f"/messages/{id.replace('-', '').upper()}/retry"),
                         {"id": id, "retried": True})
        self.comes_to(id, "Delivered")
        self.ask("POST", f"/messages/{id}/retry", expect=404)

    def test_what_the_service_refuses_is_parked_at_once_and_discarded(self):
        self.erp.status, self.erp.body = 404, ""
        id = self.hold({"order": 3})
        self.assertEqual(self.comes_to(id, "Parked")["httpStatus"], 404)
        self.assertEqual(len(self.erp.requests), 1)
        self.assertEqual(self.ask("POST", f"/messages/{id}/discard"), {"id": id, "discarded": True})
        self.assertEqual(self.track(id)["status"], "Discarded")
        self.assertEqual(self.ask("GET", "")["categories"][0]["parked"], 0)
        self.ask("GET", f"/messages/{id}", expect=404)

    def test_a_service_that_is_out_costs_no_retry_and_gets_everything_when_it_is_back(self):
        self.erp.status, self.erp.body = 502, "restarting"
        ids = [self.hold({"order": i}) for i in range(5)]
        self.assertTrue(eventually(lambda: len(self.erp.requests) >= 3))
        self.assertEqual(self.site.number("SELECT sum(retry_count) FROM sf_messages"), 0)
        [total] = [each for each in self.ask("GET", "")["categories"] if each["category"] == "ExternalSystem"]
        self.assertEqual((total["waiting"], total["parked"]), (5, 0))
        self.erp.status = 200
        for id in ids:
            self.comes_to(id, "Delivered")

    def test_nothing_is_lost_when_the_node_is_killed_while_it_holds_work(self):
        self.erp.status = 502
        ids = [self.hold({"order": i}) for i in range(20)]
        self.site.kill()
        self.erp.status = 200
        self.site.start()
        for id in ids:
            self.comes_to(id, "Delivered")
        taken = {request["headers"]["Idempotency-Key"] for request in self.erp.requests}
        self.assertEqual(taken, set(ids))

    def test_what_cannot_be_asked_for_is_named(self):
        self.assertIn("'x' is not the id", self.ask("GET", "/tracking/x", expect=400)["message"])
        self.assertIn("there are status", self.ask("GET", "/messages?state=7", expect=400)["message"])
        self.ask("GET", f"/tracking/{uuid.uuid4()}", expect=404)


if __name__ == "__main__":
    unittest.main()
