#!/usr/bin/env python3
"""Webhooks from a real node to real receivers: published with plain SQL, as any program can.

webhooks_test.py PROGRAM [Webhooks.test_…]
"""

import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import time
import unittest
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from node import Node, eventually

PROGRAM = sys.argv.pop(1)
SETTINGS = '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'


class Receiver:
    """An endpoint of a subscriber's. `answer` says what it does with a request."""

    def __init__(self):
        self.requests = []
        self.answer = lambda request: (204, {})
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = {"headers": dict(self.headers), "body": body, "path": self.path}
                receiver.requests.append(request)
                status, headers = receiver.answer(request)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 1024  # Connections that do not fit are left without a word.

            def handle_error(self, *_):
                pass  # A node that was killed went away.

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def ids(self):
        return [request["headers"]["webhook-id"] for request in self.requests]


def verifies(request, secret):
    """Standard Webhooks, written down here once more from its own text."""
    headers = request["headers"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request["body"]
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mine = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return f"v1,{mine}" in headers["webhook-signature"].split(" ")


class Webhooks(unittest.TestCase):
    def setUp(self):
        self.endpoint = Receiver()
        self.addCleanup(self.endpoint.close)

    def shop(self, settings=SETTINGS, environment=None):
        node = Node(PROGRAM, "shop", settings, environment=environment).init()
        self.addCleanup(node.kill)
        return node.start()

    def command(self, node, *words):
        done = subprocess.run([PROGRAM, "webhooks", *words, "--config", node.file, "--json"],
                              capture_output=True, text=True, env=node.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, node, *words):
        done = subprocess.run([PROGRAM, "webhooks", *words, "--config", node.file],
                              capture_output=True, text=True, env=node.environment)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def add(self, node, *options, url=None):
        return self.command(node, "add", "--to", url or self.endpoint.url, *options)

    def publish(self, node, kind="order.paid", payload='{"amount":12.10}', tenant=None, key=None):
        return node.sql("INSERT INTO outbox_messages (destination, endpoint, payload, tenant,"
                        " order_key) VALUES ('webhooks', ?, ?, ?, ?) RETURNING message_id",
                        kind, payload, tenant, key)[0][0]

    def deliveries(self, node, status):
        return node.number("SELECT count(*) FROM outbox_messages WHERE destination LIKE 'webhook:%'"
                           " AND status = ?", status)

    def settles(self, node, status="Sent", count=1):
        self.assertTrue(eventually(lambda: self.deliveries(node, status) == count),
                        (node.sql("SELECT destination, status, last_error FROM outbox_messages"),
                         node.log_text()[-3000:]))

    def test_an_event_is_told_to_every_subscriber_of_its_type_and_of_no_other(self):
        node = self.shop()
        for kind in ("order.paid", "order.*", "*", "order.shipped", "orders.*"):
            self.add(node, "--type", kind)
        event = self.publish(node)
        self.settles(node, count=3)
        self.assertEqual(self.endpoint.ids(), [event] * 3)
        self.assertEqual(node.number("SELECT status FROM outbox_messages WHERE message_id = ?", event),
                         "Sent")

    def test_what_is_sent_can_be_verified_and_says_what_was_published_to_the_byte(self):
        node = self.shop()
        secret = self.add(node)["secret"]
        self.publish(node)
        self.settles(node)
        request = self.endpoint.requests[0]
        self.assertTrue(verifies(request, secret))
        self.assertIn(b'"data":{"amount":12.10}}', request["body"])
        self.assertEqual(json.loads(request["body"])["type"], "order.paid")
        self.assertEqual(request["headers"]["Content-Type"], "application/json")

    def test_a_tenant_hears_of_its_own_events_alone(self):
        node = self.shop()
        others = Receiver()
        self.addCleanup(others.close)
        self.add(node, "--tenant", "acme")
        self.add(node, "--tenant", "globex", url=others.url)
        mine = self.publish(node, tenant="acme")
        self.publish(node)  # Of no tenant: for those of all, of which there is none.
        theirs = self.publish(node, tenant="globex")
        self.settles(node, count=2)
        self.assertEqual((self.endpoint.ids(), others.ids()), ([mine], [theirs]))

    def test_a_filter_chooses_by_what_an_event_says(self):
        node = self.shop()
        self.add(node, "--filter", '{"/data/country": ["DE"]}')
        self.publish(node, payload='{"country":"FR"}')
        wanted = self.publish(node, payload='{"country":"DE"}')
        self.settles(node)
        self.assertEqual(self.endpoint.ids(), [wanted])

    def test_one_that_fails_is_tried_again_and_given_up_after_its_retries(self):
        node = self.shop()
        self.endpoint.answer = lambda request: (500, {})
        one = self.add(node, "--max-retries", "2", "--style", "both")
        self.publish(node)
        self.settles(node, "Dead")
        self.assertEqual(len(self.endpoint.requests), 3)
        self.assertEqual(len(set(self.endpoint.ids())), 1)
        numbers = [request["headers"]["X-Outbox-Delivery-Id"] for request in self.endpoint.requests]
        self.assertEqual(len(set(numbers)), 3)
        listed = lambda: self.command(node, "deliveries", one["id"])["deliveries"]
        self.assertTrue(eventually(lambda: len(listed()) == 3))
        self.assertEqual([(each["attempt"], each["state"], each["httpStatus"]) for each in listed()],
                         [(3, "dead", 500), (2, "failed", 500), (1, "failed", 500)])
        self.assertEqual([each["deliveryId"] for each in listed()], numbers[::-1])
        self.endpoint.answer = lambda request: (200, {})
        self.assertEqual(self.command(node, "recover", one["id"])["recovered"], 1)
        self.settles(node)

    def test_one_that_is_gone_is_disabled_and_hears_no_more(self):
        node = self.shop()
        self.endpoint.answer = lambda request: (410, {})
        one = self.add(node)
        self.publish(node)
        self.settles(node, "Dead")
        shown = self.command(node, "show", one["id"])
        self.assertEqual(shown["state"], "disabled")
        self.assertIn("410", shown["reason"])
        event = self.publish(node)
        self.assertTrue(eventually(lambda: node.number(
            "SELECT status FROM outbox_messages WHERE message_id = ?", event) == "Sent"))
        self.assertEqual(len(self.endpoint.requests), 1)

    def test_the_configuration_names_subscribers_by_tenant_and_one_for_all_others(self):
        secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
        entries = ", ".join(
            f'{{ url = "{self.endpoint.url}/{path}", secret = "env:HOOK", {more} }}'
            for path, more in (("all", 'type = "order.*", headers = { X-Shop = "7" }'),
                               ("acme", 'tenant = "ACME"'), ("rest", 'tenant = "Default"')))
        node = self.shop(SETTINGS + f"subscribers = [{entries}]\n", {"HOOK": secret})
        for kind, tenant in (("order.paid", "acme"), ("bill.paid", "acme"), ("bill.paid", "other"),
                             ("bill.paid", None)):
            self.publish(node, kind, tenant=tenant)
        self.settles(node, count=5)
        seen = sorted((request["path"], json.loads(request["body"])["type"])
                      for request in self.endpoint.requests)
        self.assertEqual(seen, [("/hook/acme", "bill.paid"), ("/hook/acme", "order.paid"),
                                ("/hook/all", "order.paid"), ("/hook/rest", "bill.paid"),
                                ("/hook/rest", "bill.paid")])
        for request in self.endpoint.requests:
            self.assertTrue(verifies(request, secret))
            self.assertEqual(request["headers"].get("X-Shop"),
                             "7" if request["path"] == "/hook/all" else None)
        listed = self.command(node, "list")["subscriptions"]
        self.assertEqual([(one["configured"], one.get("tenant")) for one in listed],
                         [(True, None), (True, "ACME"), (True, "default")])
        name = hashlib.md5(f"{self.endpoint.url}/acme|ACME".encode(), usedforsecurity=False).digest()
        self.assertEqual(listed[1]["id"], str(uuid.UUID(bytes=name, version=3)))
        self.assertNotIn(secret, json.dumps(listed))
        for word in ("pause", "remove", "rotate"):
            self.assertIn("stands in the configuration", self.refused(node, word, listed[0]["id"]))

    def test_a_tenant_without_an_entry_is_warned_of_once_where_there_is_no_default(self):
        entry = f'{{ url = "{self.endpoint.url}", secret = "env:HOOK", tenant = "acme" }}'
        node = self.shop(SETTINGS + f"subscribers = [{entry}]\n", {"HOOK": "whsec_" + "A" * 43 + "="})
        for tenant in ("other", "other", "acme"):
            self.publish(node, tenant=tenant)
        self.settles(node)
        undone = "SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"
        self.assertTrue(eventually(lambda: node.number(undone) == 0))
        warnings = [line for line in node.log_text().splitlines() if "there is no entry for the tenant" in line]
        self.assertEqual(len(warnings), 1, node.log_text()[-3000:])
        self.assertEqual(json.loads(warnings[0])["Tenant"], "other")

    def test_of_two_limits_of_retries_the_smaller_holds(self):
        self.endpoint.answer = lambda request: (500, {})
        node = self.shop(SETTINGS + "max_retries = 2\n")
        self.add(node, "--type", "few", "--max-retries", "1")
        self.add(node, "--type", "many", "--max-retries", "9")
        few = self.publish(node, kind="few")
        self.settles(node, "Dead", 1)
        many = self.publish(node, kind="many")
        self.settles(node, "Dead", 2)
        self.assertEqual(self.endpoint.ids(), [few] * 2 + [many] * 3)
        told = node.get("/metrics")
        self.assertIn('posthorn_webhook_attempts_total{event_type="many",outcome="failed"} 3', told)
        self.assertIn("posthorn_webhook_duration_seconds_count 5", told)
        attempts = lambda: node.sql("SELECT attempt, status FROM webhook_attempts WHERE message_id = ?"
                                    " ORDER BY attempt", many)
        self.assertTrue(eventually(lambda: len(attempts()) == 3))
        self.assertEqual(attempts(), [(1, 2), (2, 2), (3, 3)])

    def test_mistakes_in_configured_subscribers_are_named(self):
        for entry, why in (('{ url = "https://a.example/" }', "it has no secret"),
                           ('{ secret = "env:HOOK" }', "it has no url"),
                           ('{ url = "https://a.example/", secret = "whsec_abc" }', "lie elsewhere"),
                           ('{ url = "https://a.example/", secret = "env:GONE" }', "not set"),
                           ('{ url = "https://a.example/", secret = "env:SHORT" }', "24 to 64"),
                           ('{ url = "ftp://a.example/", secret = "env:HOOK" }', "https"),
                           ('{ url = "https://a.example/", secret = "env:HOOK", colour = "red" }',
                            "unknown field 'colour'")):
            node = Node(PROGRAM, "shop", f"[webhooks]\nsubscribers = [{entry}]\n",
                        environment={"HOOK": "whsec_" + "A" * 43 + "=", "SHORT": "whsec_AAAA"})
            done = subprocess.run([PROGRAM, "serve", "--config", node.file], capture_output=True,
                                  text=True, env=node.environment, timeout=240)
            self.assertNotEqual(done.returncode, 0, entry)
            self.assertIn(why, done.stderr, entry)
            self.assertNotIn("whsec_abc", done.stderr)

    def test_a_node_does_not_start_whose_alerts_would_be_told_to_subscribers(self):
        for name in ("webhooks", "webhook:0199a0b1-0000-7000-8000-000000000003"):
            node = Node(PROGRAM, "shop", f'[webhooks]\nalerts = "{name}"\n')
            for words in (("serve",), ("config", "check")):
                done = subprocess.run([PROGRAM, *words, "--config", node.file], capture_output=True, text=True,
                                      env=node.environment, timeout=240)
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn(f"webhooks.alerts cannot be '{name}'", done.stdout + done.stderr, words)

    def alerts(self, node):
        return [json.loads(row[0]) for row in node.sql(
            "SELECT payload FROM outbox_messages WHERE destination = 'ops' ORDER BY seq")]

    def has_failed_for(self, node, one, minutes, told=0):
        """As if it had done nothing else, long since."""
        since = int(time.time() * 1000) - minutes * 60_000
        node.sql("REPLACE INTO webhook_failing (subscription_id, since, last, failures, told)"
                 " VALUES (?, ?, ?, 20, coalesce((SELECT max(told) FROM webhook_failing), ?))",
                 one["id"], since, since, told)

    def test_one_that_does_nothing_but_fail_is_told_of_and_disabled_at_last(self):
        node = self.shop(SETTINGS + 'disable_after = "30m"\nalerts = "ops"\n')
        self.endpoint.answer = lambda request: (500, {})
        one = self.add(node, "--max-retries", "0")
        for minutes, percent in ((16, 50), (22, 70), (28, 90), (31, 100)):
            self.has_failed_for(node, one, minutes)
            event = self.publish(node)
            self.assertTrue(eventually(lambda: [alert for alert in self.alerts(node)
                                                if alert["percent"] == percent]),
                            (self.alerts(node), node.log_text()[-3000:]))
            told = next(alert for alert in self.alerts(node) if alert["percent"] == percent)
            self.assertEqual(told["alert"], "disabled" if percent == 100 else "failing")
            self.assertEqual((told["url"], told["subscription"]), (self.endpoint.url, one["id"]))
            self.assertEqual((told["last"]["event"], told["last"]["httpStatus"]), (event, 500))
            self.assertNotIn("whsec_", json.dumps(told))
        kinds = [alert["alert"] for alert in self.alerts(node)]
        self.assertEqual((kinds.count("failing"), kinds.count("disabled")), (3, 1))
        self.assertEqual(kinds.count("exhausted"), 4)
        shown = self.command(node, "show", one["id"])
        self.assertEqual(shown["state"], "disabled")
        self.assertIn("nothing but fail", shown["reason"])
        self.assertEqual(node.number("SELECT count(*) FROM webhook_failing"), 0)

    def test_one_that_recovers_is_told_of_too_and_begins_anew(self):
        node = self.shop(SETTINGS + 'disable_after = "30m"\nalerts = "ops"\n')
        one = self.add(node)
        self.has_failed_for(node, one, 28, told=90)
        self.publish(node)
        self.assertTrue(eventually(lambda: self.alerts(node)), node.log_text()[-3000:])
        self.assertEqual([alert["alert"] for alert in self.alerts(node)], ["recovered"])
        self.assertEqual(node.number("SELECT count(*) FROM webhook_failing"), 0)
        self.assertEqual(self.command(node, "show", one["id"])["state"], "active")

    def test_while_one_is_paused_its_events_wait(self):
        node = self.shop()
        one = self.add(node)
        self.command(node, "pause", one["id"])
        event = self.publish(node)
        self.settles(node, "Pending")
        self.assertEqual(self.endpoint.requests, [])
        self.command(node, "resume", one["id"])
        self.settles(node)
        self.assertEqual(self.endpoint.ids(), [event])

    def test_both_secrets_hold_after_a_rotation_and_strangers_do_not(self):
        node = self.shop()
        first = self.add(node)
        second = self.command(node, "rotate", first["id"])
        self.publish(node)
        self.settles(node)
        request = self.endpoint.requests[0]
        self.assertTrue(verifies(request, first["secret"]))
        self.assertTrue(verifies(request, second["secret"]))
        self.assertFalse(verifies(request, "whsec_" + base64.b64encode(bytes(32)).decode()))

    def test_with_a_key_no_secret_lies_in_the_clear(self):
        key = base64.b64encode(os.urandom(32)).decode()
        node = self.shop(SETTINGS + 'key = "env:SEALING_KEY"\n', {"SEALING_KEY": key})
        secret = self.add(node)["secret"]
        stored = node.number("SELECT secret FROM webhook_subscriptions")
        self.assertTrue(stored.startswith("sealed1:"), stored)
        self.publish(node)
        self.settles(node)
        self.assertTrue(verifies(self.endpoint.requests[0], secret))
        # It is bound to its row: a copy opens nothing for another.
        self.add(node)
        node.sql("UPDATE webhook_subscriptions SET secret = ?", stored)
        self.publish(node, kind="second")
        self.settles(node, count=2)
        self.settles(node, "Pending")

    def test_an_address_of_ours_is_not_called(self):
        node = self.shop('[webhooks]\nplain_http = true\nretry_pauses = "20ms"\n')
        one = self.add(node, "--max-retries", "0")
        self.publish(node)
        self.settles(node, "Dead")
        self.assertEqual(self.endpoint.requests, [])
        listed = lambda: self.command(node, "deliveries", one["id"])["deliveries"]
        self.assertTrue(eventually(listed))
        self.assertEqual(listed()[0]["error"], "address not allowed")
        self.assertIn("127.0.0.1", node.number(
            "SELECT last_error FROM outbox_messages WHERE destination LIKE 'webhook:%'"))

    def test_events_of_one_order_key_come_in_their_order(self):
        node = self.shop()
        failed = set()

        def fail_first(request):
            event = request["headers"]["webhook-id"]
            again = event in failed
            failed.add(event)
            return (200 if again else 500, {})

        self.endpoint.answer = fail_first
        self.add(node)
        events = [self.publish(node, key="1:a,order 7") for _ in range(5)]
        self.settles(node, count=5)
        self.assertEqual(self.endpoint.ids(), [event for event in events for _ in range(2)])

    def test_kills_lose_no_delivery_and_make_none_twice(self):
        node = self.shop()
        for _ in range(30):
            self.add(node)
        events = [self.publish(node, kind=f"event.{number}") for number in range(20)]
        for wanted in range(100, 600, 100):
            self.assertTrue(eventually(lambda: len(self.endpoint.requests) >= wanted))
            node.kill()
            node.start()
        self.settles(node, count=600)
        children = node.sql("SELECT parent_id, count(*), count(DISTINCT destination)"
                            " FROM outbox_messages WHERE parent_id IS NOT NULL GROUP BY parent_id")
        self.assertEqual(sorted(children), sorted((event, 30, 30) for event in events))
        self.assertEqual(set(self.endpoint.ids()), set(events))

    def test_a_kill_at_each_step_loses_nothing_and_makes_no_delivery_twice(self):
        node = self.shop()
        last = [self.add(node)["id"] for _ in range(2)][1]
        update = "BEFORE UPDATE OF status ON outbox_messages WHEN NEW.destination ="
        events = []
        # While a step cannot be stored, the process ends: before the deliveries are there, before their
        # event is done, and before an answer is recorded.
        error = "SELECT last_error FROM outbox_messages WHERE message_id = ?"
        for step, heard in ((f"BEFORE INSERT ON outbox_messages WHEN NEW.destination = 'webhook:{last}'", 0),
                            (f"{update} 'webhooks'", 2), (f"{update} 'webhook:{last}'", 2)):
            node.sql(f"CREATE TRIGGER in_the_way {step} BEGIN SELECT RAISE(ABORT, 'in the way'); END")
            events.append(self.publish(node))
            told = lambda: node.log_text() + str(node.sql(error, events[-1]))
            tried = lambda: "in the way" in told() and self.endpoint.ids().count(events[-1]) == heard
            self.assertTrue(eventually(tried), node.log_text()[-3000:])
            node.kill()
            node.sql("DROP TRIGGER in_the_way")
            os.truncate(node.folder / "shop.log", 0)
            node.start()
            self.settles(node, count=2 * len(events))
        sent = lambda: node.sql("SELECT DISTINCT status FROM outbox_messages") == [("Sent",)]
        self.assertTrue(eventually(sent), node.log_text()[-3000:])
        children = node.sql("SELECT parent_id, count(*), count(DISTINCT destination)"
                            " FROM outbox_messages WHERE parent_id IS NOT NULL GROUP BY parent_id")
        self.assertEqual(sorted(children), sorted((event, 2, 2) for event in events))
        # What had been answered and not recorded comes once more, under the same id.
        self.assertEqual([self.endpoint.ids().count(event) for event in events], [2, 2, 3])

    def test_an_event_that_is_fanned_out_again_makes_no_delivery_twice(self):
        node = self.shop()
        for _ in range(3):
            self.add(node)
        event = self.publish(node)
        self.settles(node, count=3)
        # As a crash leaves it between the commit of its deliveries and its own.
        node.sql("UPDATE outbox_messages SET status = 'Pending', sent_at = NULL WHERE message_id = ?", event)
        last = self.publish(node, kind="later")
        self.settles(node, count=6)
        sent = lambda: node.number("SELECT status FROM outbox_messages WHERE message_id = ?", event) == "Sent"
        self.assertTrue(eventually(sent), node.log_text()[-3000:])
        self.assertEqual(sorted(self.endpoint.ids()), sorted([event] * 3 + [last] * 3))

    def test_an_event_is_not_done_before_its_last_delivery_is_stored(self):
        node = self.shop()
        ids = [self.add(node)["id"] for _ in range(3)]
        node.sql("CREATE TRIGGER no_room BEFORE INSERT ON outbox_messages WHEN NEW.destination ="
                 f" 'webhook:{ids[-1]}' BEGIN SELECT RAISE(ABORT, 'no room'); END")
        event = self.publish(node)
        tried = lambda: node.sql("SELECT status, last_error FROM outbox_messages WHERE message_id = ?"
                                 " AND (status <> 'Pending' OR last_error IS NOT NULL)", event)
        self.assertTrue(eventually(tried), node.log_text()[-3000:])
        self.assertEqual(tried()[0][0], "Pending", tried())
        node.sql("DROP TRIGGER no_room")
        self.settles(node, count=3)
        self.assertEqual(self.endpoint.ids(), [event] * 3)

    def test_what_was_delivered_and_cannot_be_recorded_is_not_sent_again_at_once(self):
        node = self.shop()
        one = self.add(node)
        node.sql("CREATE TRIGGER no_list BEFORE INSERT ON webhook_attempts"
                 " BEGIN SELECT RAISE(ABORT, 'no list'); END")
        node.sql("CREATE TRIGGER no_end BEFORE UPDATE OF status ON outbox_messages WHEN"
                 f" NEW.destination = 'webhook:{one['id']}' BEGIN SELECT RAISE(ABORT, 'no end'); END")
        event = self.publish(node)
        said = lambda word: [line for line in map(json.loads, node.log_text().splitlines())
                             if word in json.dumps(line)]
        self.assertTrue(eventually(lambda: said("no list") and said("no end")), node.log_text()[-3000:])
        [lost] = said("no list")
        self.assertEqual((lost["level"], lost["Delivered"]), ("error", 1))
        self.assertEqual(self.deliveries(node, "Pending"), 1)
        node.sql("DROP TRIGGER no_end")
        self.settles(node)
        self.assertEqual(self.endpoint.ids(), [event])

    def test_a_fan_out_from_two_hundred_on_is_warned_of_at_the_start(self):
        narrow = "batch = 25\nendpoint_requests = 3\n"
        for settings, is_warned in (("", False), ("batch = 25\n", True), (narrow, False)):
            node = self.shop(SETTINGS + settings)
            warned = [json.loads(line)["Count"] for line in node.log_text().splitlines() if "fan-out" in line]
            self.assertEqual(warned, [200] if is_warned else [])
            node.kill()

    def test_attempts_are_kept_for_their_time(self):
        node = self.shop()
        one = self.add(node)
        node.stop()
        now = int(time.time() * 1000)
        for number, days in ((1, 31), (2, 29)):
            node.sql("INSERT INTO webhook_attempts (id, message_id, subscription_id, attempt, status, at)"
                     " VALUES ('a', 'b', ?, ?, 2, ?)", one["id"], number, now - days * 86_400_000)
        node.start()
        kept = lambda: node.sql("SELECT attempt FROM webhook_attempts")
        self.assertTrue(eventually(lambda: kept() == [(2,)]), kept())

    def test_what_is_tried_while_an_endpoint_is_left_alone_is_not_charged(self):
        self.endpoint.answer = lambda request: (500, {})
        node = self.shop()
        self.add(node, "--max-retries", "0")
        for number in range(5):
            self.publish(node)
            self.settles(node, "Dead", number + 1)
        self.publish(node)
        probed_twice = lambda: len(self.endpoint.requests) >= 7
        self.assertTrue(eventually(probed_twice), node.log_text()[-3000:])
        self.settles(node, "Pending", 1)

    def test_a_subscription_is_changed_and_removed(self):
        node = self.shop()
        other = Receiver()
        self.addCleanup(other.close)
        one = self.add(node, "--type", "order.paid", "--headers", '{"X-Shop": "7"}')
        edited = self.command(node, "edit", one["id"], "--to", other.url, "--type", "*")
        self.assertEqual((edited["url"], edited["eventType"], edited["headers"]),
                         (other.url, "*", {"X-Shop": "7"}))
        self.assertNotIn("secret", edited)
        event = self.publish(node, kind="anything")
        self.settles(node)
        self.assertEqual((self.endpoint.ids(), other.ids()), ([], [event]))
        self.assertEqual(other.requests[0]["headers"]["X-Shop"], "7")
        self.assertIn("0 to 50", self.refused(node, "edit", one["id"], "--max-retries", "51"))
        self.command(node, "disable", one["id"])
        self.assertEqual(self.command(node, "show", one["id"])["state"], "disabled")
        self.command(node, "enable", one["id"])
        self.command(node, "remove", one["id"])
        self.assertEqual(self.command(node, "list")["subscriptions"], [])

    def test_what_is_recovered_right_after_an_edit_goes_to_the_new_url(self):
        self.endpoint.answer = lambda request: (500 if request["path"] == "/hook/old" else 200, {})
        node = self.shop()
        one = self.add(node, "--max-retries", "0", url=self.endpoint.url + "/old")["id"]
        self.publish(node)
        for number in range(1, 4):
            self.settles(node, "Dead", 1)
            self.command(node, "edit", one, "--to", f"{self.endpoint.url}/new{number}")
            self.command(node, "recover", one)
            self.settles(node, "Sent", number)
            self.command(node, "edit", one, "--to", self.endpoint.url + "/old")
            self.publish(node)
        self.settles(node, "Dead", 1)
        self.assertEqual([request["path"] for request in self.endpoint.requests],
                         ["/hook/old", "/hook/new1", "/hook/old", "/hook/new2", "/hook/old", "/hook/new3",
                          "/hook/old"])

    def test_the_catalogue_is_kept_and_what_was_missed_is_sent_by_commands(self):
        node = self.shop()
        self.command(node, "type-set", "--name", "order.paid", "--description", "paid", "--json-schema",
                     '{"type": "object"}', "--example", '{"amount": 7}')
        [kind] = self.command(node, "types")["types"]
        self.assertEqual((kind["name"], kind["description"], kind["schema"], kind["example"]),
                         ("order.paid", "paid", {"type": "object"}, {"amount": 7}))
        self.assertIn("is not JSON", self.refused(node, "type-set", "--name", "a", "--json-schema", "{"))
        event = self.publish(node)
        self.assertTrue(eventually(lambda: node.number(
            "SELECT status FROM outbox_messages WHERE message_id = ?", event) == "Sent"))
        one = self.add(node)
        self.assertEqual(self.command(node, "missed", one["id"])["missing"], 0)
        long_since = ("--since", "2026-01-01T00:00:00Z")
        self.assertEqual(self.command(node, "missed", one["id"], *long_since)["missing"], 1)
        told = self.command(node, "recover", one["id"], "--what", "missing", *long_since)
        self.assertEqual(told["recovered"], 1)
        self.settles(node)
        self.assertEqual(self.endpoint.ids(), [event])
        self.command(node, "type-remove", "order.paid")
        self.assertEqual(self.command(node, "types")["types"], [])

    def test_an_event_for_five_hundred_is_warned_of(self):
        node = self.shop()
        node.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                 " INSERT INTO webhook_subscriptions (id, url, secret, event_type) SELECT"
                 " printf('018f3b1c-0000-7000-8000-%012d', i), ?, ?, CASE i WHEN 500 THEN 'order.paid' ELSE '*' END"
                 " FROM n", self.endpoint.url, "whsec_" + "A" * 43 + "=")
        few, many = self.publish(node, kind="order.late"), self.publish(node)
        self.settles(node, count=999)
        warned = [line for line in node.log_text().splitlines() if "endpoints" in line and "Count" in line]
        self.assertEqual(len(warned), 1, warned)
        self.assertIn(many, warned[0])
        self.assertNotIn(few, warned[0])

    def test_mistakes_are_named(self):
        node = self.shop()
        self.assertIn("https://", self.refused(node, "add", "--to", "nonsense"))
        self.assertIn("order.paid", self.refused(
            node, "add", "--to", self.endpoint.url, "--type", "a b"))
        self.assertIn("JSON pointer", self.refused(
            node, "add", "--to", self.endpoint.url, "--filter", '{"country": ["DE"]}'))
        self.assertIn("Host", self.refused(
            node, "add", "--to", self.endpoint.url, "--headers", '{"Host": "a"}'))
        short = self.refused(node, "add", "--to", self.endpoint.url, "--secret", "whsec_c2hvcnQ=")
        self.assertIn("24", short)
        self.assertNotIn("c2hvcnQ", short)
        self.assertIn("no subscription", self.refused(
            node, "show", "018f3b1c-0000-7000-8000-000000000001"))
        self.assertEqual(self.command(node, "list")["subscriptions"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
