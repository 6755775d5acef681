#!/usr/bin/env python3
"""What the pages of webhooks are made of, asked of a real node: on SQLite, or on the server that
POSTHORN_TEST_POSTGRES names.

webhook_pages_test.py PROGRAM [WebhookPages.test_…]
"""

import http.client
import json
import subprocess
import sys
import time
import unittest
from datetime import datetime, timezone

from node import eventually
from server_node import node_of_this_run
from webhook_receiver import AnsweringReceiver

PROGRAM = sys.argv.pop(1)
SETTINGS = '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'


class WebhookPages(unittest.TestCase):
    def setUp(self):
        self.good, self.bad = AnsweringReceiver(200, "thanks"), AnsweringReceiver(500, "no")
        self.addCleanup(self.good.close)
        self.addCleanup(self.bad.close)
        made = json.loads(self.run_program("keys", "admin", "new", "--name", "o", "--role", "operator", "--payloads",
                                           "--secrets", "--json"))
        self.key = made["key"]
        self.admin = ('[admin]\nkeys = [{ name = "o", role = "operator",'
                      f' payloads = true, secrets = true, hash = "{made["hash"]}" }}]\n')
        self.start()

    def start(self, settings=""):
        self.node = node_of_this_run(PROGRAM, "shop", SETTINGS + settings + self.admin).init().start()
        self.addCleanup(self.node.kill)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout

    def ask(self, method, path, body=None, expect=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.admin, timeout=120)
        connection.request(method, "/_rf/webhooks" + path, None if body is None else json.dumps(body),
                           {"Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, expect, told)
        return told

    def add(self, receiver, **more):
        return self.ask("POST", "", {"url": receiver.url, **more})["id"]

    def publish(self, payload, kind="order.paid", tenant=None):
        return self.node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant)"
                             " VALUES ('webhooks', ?, ?, ?) RETURNING message_id",
                             kind, json.dumps(payload), tenant)[0][0]

    def attempts(self, number):
        self.assertTrue(eventually(lambda: self.node.number("SELECT count(*) FROM webhook_attempts") == number),
                        self.node.log_text()[-3000:])
        # An attempt is written down before or after its delivery is settled.
        undone = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"
        self.assertTrue(eventually(lambda: self.node.number(undone) == 0), self.node.log_text()[-3000:])

    def listed(self, query=""):
        return [(each["id"], each["health"]) for each in self.ask("GET", "/endpoints" + query)["endpoints"]]

    def test_endpoints_are_listed_by_how_they_do(self):
        quiet = self.add(self.good, eventType="none.such", description="hears of nothing")
        well = self.add(self.good, eventType="order.*")
        failing = self.add(self.bad, eventType="*", tenant="acme", maxRetries=0)
        paused, disabled = self.add(self.good, eventType="x.*"), self.add(self.good, eventType="y.*")
        self.ask("POST", f"/{paused}/pause")
        self.ask("POST", f"/{disabled}/disable")
        for amount in (1, 2):
            self.publish({"amount": amount}, tenant="acme")
        self.attempts(4)
        by_health = [(failing, "failing"), (disabled, "disabled"), (paused, "paused"), (well, "delivering"),
                     (quiet, "quiet")]
        self.assertEqual(self.listed(), by_health)
        page = self.ask("GET", "/endpoints?limit=1")
        self.assertEqual((page["fitting"], page["states"]["failing"], len(page["endpoints"])), (5, 1, 1))
        first = page["endpoints"][0]
        self.assertEqual((first["delivered"], first["failed"], first["dead"], first["lastHttpStatus"]), (0, 2, 2, 500))
        self.assertNotIn("secret", first)
        self.assertEqual(self.listed("?state=paused"), [(paused, "paused")])
        self.assertEqual(self.listed("?tenant=acme"), [(failing, "failing")])
        self.assertEqual(self.listed("?tenant=ACME"), [])
        self.assertEqual(self.listed("?text=of%20nothing"), [(quiet, "quiet")])
        self.assertEqual(self.listed(f"?text={self.bad.server.server_port}"), [(failing, "failing")])
        self.assertIn("'odd' is not a state", self.ask("GET", "/endpoints?state=odd", expect=400)["message"])
        self.assertIn("cannot be asked for", self.ask("GET", "/endpoints?sort=x", expect=400)["message"])
        self.assertIn("write 1 to 1000", self.ask("GET", "/endpoints?limit=0", expect=400)["message"])

    def test_endpoints_tell_what_waits_for_them_since_when_and_how_much_they_are_sent(self):
        well = self.add(self.good, eventType="order.*")
        failing = self.add(self.bad, eventType="order.*", maxRetries=0)
        for amount in (1, 2, 3):
            self.publish({"amount": amount})
        self.attempts(6)
        self.ask("POST", f"/{well}/pause")
        event = self.publish({"amount": 4})
        waiting = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending' AND destination LIKE 'webhook:%'"
        self.assertTrue(eventually(lambda: self.node.number("SELECT count(*) FROM webhook_attempts") == 7
                                   and self.node.number(waiting) == 1), self.node.log_text()[-3000:])
        # An hour ago, and beyond the minutes that are counted.
        self.node.sql("UPDATE webhook_attempts SET at = at - 3600000 WHERE seq = (SELECT min(seq) FROM"
                      " webhook_attempts WHERE subscription_id = ?)", well)
        names = ("waiting", "deliveredPerMinute", "failedPerMinute")
        listed = {each["id"]: each for each in self.ask("GET", "/endpoints")["endpoints"]}
        self.assertEqual([listed[well][name] for name in names], [1, 0.4, 0])
        self.assertEqual([listed[failing][name] for name in names], [0, 0, 0.8])
        self.assertNotIn("oldestWaitingSince", listed[failing])
        self.assertNotIn("waitingAtLeast", listed[well])
        [[made]] = self.node.sql("SELECT created_at FROM outbox_messages WHERE status = 'Pending'"
                                 " AND destination LIKE 'webhook:%'")
        since = datetime.fromisoformat(listed[well]["oldestWaitingSince"].replace("Z", "+00:00"))
        self.assertEqual(round(since.timestamp() * 1000), made)
        one = self.ask("GET", f"/{well}/health")
        self.assertEqual({name: one[name] for name in (*names, "oldestWaitingSince")},
                         {name: listed[well][name] for name in (*names, "oldestWaitingSince")})
        told = self.run_program("webhooks", "endpoints", "--url", f"http://127.0.0.1:{self.node.admin}", "--key", self.key)
        self.assertRegex(told, rf"{failing} +failing +0 .* 0\.8 ")
        self.assertRegex(told, rf"{well} +paused +1 .* 0\.4 ")
        self.assertNotIn(event, told)

    def test_attempts_are_listed_in_pages_with_the_type_of_their_event(self):
        one = self.add(self.good)
        other = self.add(self.bad, maxRetries=0, eventType="order.paid")
        events = [self.publish({"n": n}, kind="order.paid" if n % 2 else "order.late") for n in range(5)]
        self.attempts(7)
        seen, before = [], ""
        while before is not None:
            page = self.ask("GET", f"/{one}/deliveries?limit=2{before}")
            seen += [(each["messageId"], each["eventType"]) for each in page["deliveries"]]
            before = page["next"] and f"&before={page['next']}"
        self.assertEqual(sorted(seen), sorted((event, "order.paid" if n % 2 else "order.late")
                                              for n, event in enumerate(events)))
        self.assertEqual(self.ask("GET", f"/{one}/deliveries?failed=true")["deliveries"], [])
        failed = self.ask("GET", f"/{other}/deliveries?failed=true")["deliveries"]
        self.assertEqual([(each["state"], each["answer"]) for each in failed], [("dead", "no")] * 2)
        types = {each["eventType"]: each["attempts"] for each in self.ask("GET", f"/{one}/health")["types"]}
        self.assertEqual(types, {"order.paid": 2, "order.late": 3})

    def test_an_attempt_tells_what_was_sent_unless_the_endpoint_has_changed(self):
        one = self.add(self.good, headers={"X-Shop": "7"})
        event = self.publish({"amount": 7})
        self.attempts(1)
        [attempt] = self.ask("GET", f"/{one}/deliveries")["deliveries"]
        path = f"/{one}/deliveries/{attempt['seq']}"
        self.assertNotIn("request", self.ask("GET", path))
        told = self.ask("GET", path + "?payload=true")
        sent = self.good.requests[0]
        self.assertEqual(told["request"]["body"], sent["body"])
        self.assertEqual(told["request"]["url"], self.good.url)
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "Content-Type", "X-Shop"):
            self.assertEqual(told["request"]["headers"][name], sent["headers"][name])
        self.assertEqual((told["messageId"], told["changedSince"]), (event, False))
        self.ask("POST", f"/{one}/rotate")
        changed = self.ask("GET", path + "?payload=true")
        self.assertTrue(changed["changedSince"])
        self.assertNotIn("webhook-signature", changed["request"]["headers"])
        # Of another subscription it is none.
        other = self.add(self.good, eventType="none.such")
        self.ask("GET", f"/{other}/deliveries/{attempt['seq']}", expect=404)

    def test_what_would_be_recovered_is_counted_first(self):
        one = self.add(self.bad, maxRetries=0)
        for n in range(3):
            self.publish({"n": n})
        self.attempts(3)
        self.assertTrue(eventually(lambda: self.ask("GET", f"/{one}/recover")["dead"] == 3))
        self.bad.status = 200
        self.assertEqual(self.ask("POST", f"/{one}/recover")["recovered"], 3)
        self.attempts(6)
        self.assertEqual(self.ask("GET", f"/{one}/recover")["dead"], 0)

    def test_one_delivery_is_tried_again_by_an_attempt_of_it(self):
        one = self.add(self.bad, maxRetries=0)
        other = self.add(self.good, eventType="none.such")
        for n in range(2):
            self.publish({"n": n})
        self.attempts(2)
        self.assertTrue(eventually(lambda: self.ask("GET", f"/{one}/recover")["dead"] == 2))
        first = self.ask("GET", f"/{one}/deliveries")["deliveries"][1]
        retry = f"/deliveries/{first['seq']}/retry"
        self.ask("POST", f"/{other}{retry}", expect=404)
        self.ask("POST", f"/{one}/deliveries/0/retry", expect=400)
        self.ask("POST", f"/{one}/deliveries/999999/retry", expect=404)
        self.ask("POST", f"/{one}/disable")
        self.assertIn("enable it first", self.ask("POST", f"/{one}{retry}", expect=409)["message"])
        self.ask("POST", f"/{one}/enable")
        self.bad.status = 200
        self.assertEqual(self.ask("POST", f"/{one}{retry}"), {"id": one, "recovered": 1})
        self.attempts(3)
        self.assertEqual([each["headers"]["webhook-id"] for each in self.bad.requests][2:], [first["messageId"]])
        self.assertTrue(eventually(lambda: self.ask("GET", f"/{one}/recover")["dead"] == 1))
        self.assertTrue(eventually(lambda: self.node.number(
            "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'") == 0))
        self.assertIn("it was delivered", self.ask("POST", f"/{one}{retry}", expect=409)["message"])

    def delivered_to(self, receiver, events):
        ids = lambda: sorted(request["headers"]["webhook-id"] for request in receiver.requests)
        self.assertTrue(eventually(lambda: ids() == sorted(events)), (ids(), events, self.node.log_text()[-3000:]))

    def fanned_out(self, *events):
        for event in events:
            self.assertTrue(eventually(lambda: self.node.sql(
                "SELECT status FROM outbox_messages WHERE message_id = ?", event) == [("Sent",)]))

    def moment_of(self, event):
        at = self.node.number("SELECT created_at FROM outbox_messages WHERE message_id = ?", event)
        return datetime.fromtimestamp(at / 1000, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def at_a_time_of_its_own(self, event):
        """Until the clock has gone on, so that what follows is later."""
        at = self.node.number("SELECT created_at FROM outbox_messages WHERE message_id = ?", event)
        self.assertTrue(eventually(lambda: time.time() * 1000 > at + 2))

    def test_what_was_published_while_one_was_disabled_is_counted_and_sent(self):
        one = self.add(self.good, eventType="order.*", tenant="acme", filter={"/data/n": [1, 2, 3, 4]})
        heard = self.publish({"n": 1}, tenant="acme")
        self.delivered_to(self.good, [heard])
        self.ask("POST", f"/{one}/disable")
        missed = []
        for n in (2, 3, 4):
            missed.append(self.publish({"n": n}, tenant="acme"))
            self.at_a_time_of_its_own(missed[-1])
        # Of another type, another tenant, none, and of what it does not want.
        passed = [self.publish({"n": 2}, kind="bill.paid", tenant="acme"), self.publish({"n": 2}, tenant="globex"),
                  self.publish({"n": 2}), self.publish({"n": 9}, tenant="acme")]
        self.fanned_out(*missed, *passed)
        refused = self.ask("POST", f"/{one}/recover", {"what": "missing"}, expect=409)
        self.assertIn("enable it first", refused["message"])
        self.ask("POST", f"/{one}/enable")
        self.assertEqual(self.ask("GET", f"/{one}/recover")["missing"], 3)
        second, third = self.moment_of(missed[1]), self.moment_of(missed[2])
        for window, number in ((f"?since={second}", 2), (f"?until={second}", 1), (f"?since={second}&until={third}", 1)):
            self.assertEqual(self.ask("GET", f"/{one}/recover{window}")["missing"], number, window)
        told = self.ask("POST", f"/{one}/recover", {"what": "missing", "since": second, "until": third})
        self.assertEqual(told["recovered"], 1)
        self.delivered_to(self.good, [heard, missed[1]])
        self.assertEqual(self.ask("POST", f"/{one}/recover", {"what": "missing"})["recovered"], 2)
        self.delivered_to(self.good, [heard, *missed])
        self.assertEqual(self.ask("GET", f"/{one}/recover")["missing"], 0)
        self.assertEqual(self.ask("POST", f"/{one}/recover", {"what": "missing"})["recovered"], 0)

    def test_one_that_is_new_is_sent_what_was_published_before_if_that_is_asked_for(self):
        rows = ", ".join(["('webhooks', 'order.paid', '{}')"] * 600)  # More than one slice.
        events = [event for event, in self.node.sql(
            f"INSERT INTO outbox_messages (destination, endpoint, payload) VALUES {rows} RETURNING message_id")]
        waiting = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"
        self.assertTrue(eventually(lambda: self.node.number(waiting) == 0))
        begin = self.moment_of(events[0])
        self.at_a_time_of_its_own(events[-1])
        one = self.add(self.good)
        self.assertEqual(self.ask("GET", f"/{one}/recover")["missing"], 0)
        self.assertEqual(self.ask("GET", f"/{one}/recover?since={begin}")["missing"], 600)
        self.assertEqual(self.ask("POST", f"/{one}/recover", {"what": "missing"})["recovered"], 0)
        told = self.ask("POST", f"/{one}/recover", {"what": "missing", "since": begin})
        self.assertEqual(told["recovered"], 600)
        self.delivered_to(self.good, events)

    def test_deliveries_whose_time_is_over_are_recovered_too(self):
        one = self.add(self.bad, maxRetries=0)
        dead = self.publish({"n": 1})
        self.attempts(1)
        self.ask("POST", f"/{one}/pause")
        expired = self.publish({"n": 2})
        waiting = "SELECT count(*) FROM outbox_messages WHERE parent_id = ?"
        self.assertTrue(eventually(lambda: self.node.number(waiting, expired) == 1))
        # As if they had been made long since.
        self.node.sql("UPDATE outbox_messages SET expires_at = created_at + 1 WHERE parent_id IS NOT NULL")
        counted = lambda: {name: self.ask("GET", f"/{one}/recover")[name] for name in ("dead", "expired", "missing")}
        self.assertTrue(eventually(lambda: counted() == {"dead": 1, "expired": 1, "missing": 0}), counted())
        self.bad.status = 200
        self.bad.requests.clear()
        self.ask("POST", f"/{one}/resume")
        self.assertEqual(self.ask("POST", f"/{one}/recover")["recovered"], 2)
        self.delivered_to(self.bad, [dead, expired])
        self.assertEqual(counted(), {"dead": 0, "expired": 0, "missing": 0})

    def test_subscriptions_are_seen_under_the_name_of_the_webhook_document(self):
        one = self.add(self.good, eventType="order.*", tenant="acme", maxRetries=7, headers={"X-Shop": "7"})
        self.ask("POST", f"/{one}/pause")
        columns = ["Id", "TenantId", "EventType", "WebhookUrl", "MaxRetries", "TimeoutSeconds", "CustomHeaders"]
        names = ", ".join(f'"{each}"' for each in columns)
        [row] = self.node.sql(f'SELECT {names} FROM "WebhookSubscriptions" WHERE NOT "IsActive"')
        self.assertEqual(row, (one, "acme", "order.*", self.good.url, 7, 30, '{"X-Shop":"7"}'))
        self.ask("POST", f"/{one}/resume")
        active = 'SELECT "Id" FROM "WebhookSubscriptions" WHERE "IsActive" AND "CreatedAt" IS NOT NULL'
        self.assertEqual(self.node.sql(active), [(one,)])

    def test_types_of_events_stand_in_a_catalogue_and_their_example_is_sent_as_a_test(self):
        self.assertEqual(self.ask("GET", "/types"), {"types": [], "strict": False})
        paid = {"name": "order.paid", "description": "An order was paid", "schema": {"type": "object"},
                "example": {"amount": 12.1}}
        self.ask("POST", "/types", {"name": "order.late"})
        made = self.ask("POST", "/types", {**paid, "description": "old"})
        self.assertNotIn("updatedAt", made)
        # As the command line says it.
        self.ask("POST", "/types", {**paid, "schema": '{"type": "object"}', "example": '{"amount": 12.1}'})
        late, shown = self.ask("GET", "/types")["types"]
        self.assertEqual(late["name"], "order.late")
        self.assertEqual({name: shown[name] for name in paid}, paid)
        self.assertEqual(shown["createdAt"], made["createdAt"])
        self.assertIn("updatedAt", shown)
        one = self.add(self.good, eventType="bill.*")  # Others than the catalogue's are allowed.
        self.assertTrue(self.ask("POST", f"/{one}/test", {"eventType": "order.paid"})["delivered"])
        sent = json.loads(self.good.requests[-1]["body"])
        self.assertEqual((sent["type"], sent["data"]), ("order.paid", {"amount": 12.1}))
        self.ask("POST", f"/{one}/test", {"eventType": "order.late"})
        self.assertEqual(json.loads(self.good.requests[-1]["body"])["data"], {})
        self.ask("POST", f"/{one}/test", {"eventType": "bill.paid"}, expect=404)
        self.ask("POST", f"/{one}/test", {"type": "order.paid"}, expect=400)
        self.ask("POST", "/types/order.late/remove")
        self.ask("POST", "/types/order.late/remove", expect=404)
        self.assertEqual([each["name"] for each in self.ask("GET", "/types")["types"]], ["order.paid"])
        for body, why in (({}, "is not the name"), ({"name": "a b"}, "'a b' is not the name"),
                          ({"name": "order.*"}, "is not the name"), ({"name": "a/b"}, "is not the name"),
                          ({"name": "a", "schema": "["}, "schema is not JSON"), ({"name": "a", "odd": 1}, "'odd'"),
                          ({"name": "a", "schema": [1]}, "a schema is a JSON object"),
                          ({"name": "a", "example": "x" * 10}, "example is not JSON"),
                          ({"name": "a", "example": ["x" * 70_000]}, "at most 65536"),
                          ({"name": "a", "description": "d" * 1001}, "at most 1000")):
            self.assertIn(why, self.ask("POST", "/types", body, expect=400)["message"])

    def test_under_strict_events_and_subscriptions_of_other_types_are_refused(self):
        self.start("strict = true\n")
        self.ask("POST", "/types", {"name": "order.paid"})
        self.assertTrue(self.ask("GET", "/types")["strict"])
        for kind in ("order.late", "bill.*", "order.paid.*"):
            refused = self.ask("POST", "", {"url": self.good.url, "eventType": kind}, expect=400)
            self.assertEqual(refused["field"], "eventType")
            self.assertIn(f"no type of the catalogue is '{kind}'", refused["message"])
        one = self.add(self.good, eventType="order.*")
        every = self.add(self.bad, eventType="*", maxRetries=0)
        self.assertIn("catalogue", self.ask("POST", f"/{one}/edit", {"eventType": "x"}, expect=400)["message"])
        self.ask("POST", f"/{one}/edit", {"description": "d"})
        self.ask("POST", f"/{every}/disable")
        # Told apart in one batch.
        unknown, known = self.publish({}, kind="order.piad"), self.publish({}, kind="order.paid")
        self.delivered_to(self.good, [known])
        state = "SELECT status, last_error FROM outbox_messages WHERE message_id = ?"
        self.assertTrue(eventually(lambda: self.node.sql(state, unknown)[0][0] == "Dead"))
        self.assertIn("'order.piad' is not in the catalogue", self.node.sql(state, unknown)[0][1])
        # Nothing is lost: once the type is known it goes on.
        self.ask("POST", "/types", {"name": "order.piad"})
        self.run_program("dead", "requeue", unknown, "--config", self.node.file)
        self.delivered_to(self.good, [known, unknown])

    def test_an_event_is_partly_delivered_and_only_what_was_exhausted_is_sent_again(self):
        well, failing = self.add(self.good), self.add(self.bad, maxRetries=0)
        event = self.publish({"n": 1})
        self.attempts(2)
        shown = self.ask("GET", f"/events/{event}")
        self.assertEqual((shown["state"], shown["eventType"], shown["delivered"], shown["exhausted"], shown["waiting"]),
                         ("partly", "order.paid", 1, 1, 0))
        states = {each["subscription"]: (each["state"], each.get("error")) for each in shown["deliveries"]}
        self.assertEqual(states, {well: ("delivered", None), failing: ("exhausted", "HTTP 500")})
        # Not while it is disabled, for which it would be given up at once.
        self.ask("POST", f"/{failing}/disable")
        self.assertEqual(self.ask("POST", f"/events/{event}/recover")["recovered"], 0)
        self.ask("POST", f"/{failing}/enable")
        self.bad.status = 200
        self.bad.requests.clear()
        self.assertEqual(self.ask("POST", f"/events/{event}/recover")["recovered"], 1)
        self.delivered_to(self.bad, [event])
        self.assertTrue(eventually(lambda: self.ask("GET", f"/events/{event}")["state"] == "delivered"))
        self.assertEqual(len(self.good.requests), 1)
        for each in (well, failing):
            self.ask("POST", f"/{each}/remove")
        unheard = self.publish({"n": 2})
        self.assertTrue(eventually(lambda: self.ask("GET", f"/events/{unheard}")["state"] == "unheard"))
        self.ask("GET", f"/events/{well}", expect=404)
        self.ask("GET", "/events/7", expect=400)

    def test_what_was_tried_for_an_event_is_listed_by_number_with_the_beginning_of_each_answer(self):
        self.bad.body = "é" * 5000
        failing = self.add(self.bad, maxRetries=2, eventType="order.*")
        silent = AnsweringReceiver(200, "")
        silent.gate.clear()
        self.addCleanup(silent.close)
        self.addCleanup(silent.gate.set)
        late = self.add(silent, maxRetries=0, timeoutSeconds=1)
        event, other = self.publish({"n": 1}), self.publish({"n": 2}, kind="other")
        self.attempts(5)
        listed, after = [], ""
        while after is not None:
            page = self.ask("GET", f"/events/{event}/attempts?limit=3{after}")
            listed += page["attempts"]
            after = page["next"] and f"&after={page['next']}"
        seen = [(each["attempt"], each["subscription"], each["state"], each.get("httpStatus")) for each in listed]
        self.assertEqual(sorted(seen[:2]), sorted([(1, failing, "failed", 500), (1, late, "dead", None)]))
        self.assertEqual(seen[2:], [(2, failing, "failed", 500), (3, failing, "dead", 500)])
        self.assertEqual({each["messageId"] for each in listed}, {event})
        by = {each["subscription"]: each for each in listed}
        self.assertEqual((by[failing]["answer"], by[failing]["error"]), ("é" * 3999 + "…", "HTTP 500"))
        self.assertEqual((by[late].get("answer"), by[late]["error"]), (None, "Request timed out"))
        told = self.run_program("webhooks", "attempts", other, "--config", self.node.file, "--json")
        self.assertEqual([each["subscription"] for each in json.loads(told)["attempts"]], [late])
        # Without a limit there are fifty of them.
        for number in range(60):
            self.node.sql("INSERT INTO webhook_attempts (id, message_id, subscription_id, attempt, status, at)"
                          " VALUES ('a', ?, ?, ?, 2, 1)", event, failing, 100 + number)
        self.assertEqual(len(self.ask("GET", f"/events/{event}/attempts")["attempts"]), 50)
        self.assertEqual(len(self.ask("GET", f"/{failing}/deliveries")["deliveries"]), 50)
        self.ask("GET", "/events/7/attempts", expect=400)

    def test_mistakes_in_what_to_recover_are_named(self):
        one = self.add(self.good)
        for body, why in (({"what": "all"}, "failed or missing"), ({"since": "yesterday"}, "2026-02-14T12:00:00Z"),
                          ({"until": 7}, "'until' cannot be said so"), ({"odd": "x"}, "'odd'")):
            self.assertIn(why, self.ask("POST", f"/{one}/recover", body, expect=400)["message"])
        self.assertIn("since is 'x'; give a time like", self.ask("GET", f"/{one}/recover?since=x", expect=400)["message"])
        self.ask("POST", "/0199a0b1-0000-7000-8000-000000000003/recover", expect=404)

    def test_a_refusal_names_the_field(self):
        for field, value in (("url", "nope"), ("eventType", "a b"), ("maxRetries", 99), ("maxRetries", "x"),
                             ("timeoutSeconds", 0), ("filter", "{"), ("headers", {"Host": "x"}), ("secret", "x"),
                             ("tenant", "t" * 300), ("description", "d" * 1001), ("style", "odd"), ("odd", 1)):
            refused = self.ask("POST", "", {"url": self.good.url, field: value}, expect=400)
            self.assertEqual(refused.get("field"), field, refused)
        one = self.add(self.good)
        refused = self.ask("POST", f"/{one}/edit", {"eventType": ""}, expect=400)
        self.assertEqual(refused["field"], "eventType")


if __name__ == "__main__":
    unittest.main()
