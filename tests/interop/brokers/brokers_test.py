#!/usr/bin/env python3
"""A node before and behind a real broker, with a foreign client at the other end: one suite for all kinds.

brokers_test.py PROGRAM MODULES KIND [Brokers.test_…]
"""

import base64
import hashlib
import json
import os
import subprocess
import urllib.request

import suite  # Leads to the next.
import certificates
from suite import eventually


class Brokers(suite.BrokerCase):
    def test_what_is_published_reaches_a_foreign_client_with_its_id_and_its_headers(self):
        broker = self.broker()
        broker.declare("orders")
        shop = self.sender(broker, "orders")
        self.send(shop, 1, 3, headers='{"traceparent":"00-a"}', correlation_id="c7", order_key="k")
        shop.start()
        self.sent(shop, 3)
        came = broker.take("orders", 3)
        self.assertEqual([json.loads(one["body"])["n"] for one in came], [1, 2, 3])
        ids = [row[0] for row in shop.sql("SELECT message_id FROM outbox_messages ORDER BY seq")]
        self.assertEqual([one["id"] for one in came], ids)
        for one in came:
            self.assertTrue(one["persistent"])
            self.assertEqual(one["headers"]["rf-endpoint"], "Placed")
            self.assertEqual(one["headers"]["rf-source"], "shop")
            self.assertEqual(one["headers"]["traceparent"], "00-a")
            self.assertEqual(one["correlation"], "c7")

    def test_a_thousand_are_confirmed_and_none_is_lost(self):
        broker = self.broker()
        broker.declare("orders")
        shop = self.sender(broker, "orders").start()
        with_all = ", ".join(f"('broker', 'Placed', '{{\"n\":{n}}}')" for n in range(1000))
        shop.sql(f"INSERT INTO outbox_messages (destination, endpoint, payload) VALUES {with_all}")
        self.sent(shop, 1000)
        self.assertEqual(broker.peer("count", "orders"), [{"count": 1000}])

    def test_what_has_no_place_is_named_waits_uncharged_and_goes_once_there_is_one(self):
        broker = self.broker()
        shop = self.sender(broker, "orders")
        self.send(shop, 1, 1)
        shop.start()
        self.assertIn("unroutable: ", self.error_of(shop, "unroutable"))
        self.assertEqual(shop.sql("SELECT status, retry_count FROM outbox_messages"), [("Pending", 0)])
        broker.declare("orders")
        self.sent(shop, 1)  # It is tried every half minute.

    def test_a_wrong_password_is_named_without_being_told(self):
        broker = self.broker()
        broker.declare("orders")
        shop = self.sender(broker, "orders")
        shop.environment["BROKER_PASSWORD"] = "hunter2-is-wrong"
        self.send(shop, 1, 1)
        shop.start()
        why = self.error_of(shop, "guest" if self.kind == "RabbitMq" else "NATS")
        self.assertEqual(shop.number("SELECT retry_count FROM outbox_messages"), 0)
        for told in (why, shop.log_text(), shop.get("/_rf/health"), shop.file.read_text()):
            self.assertNotIn("hunter2", told)

    def test_a_full_queue_makes_the_lane_wait_and_loses_nothing(self):
        broker = self.broker()
        broker.declare("orders", max=5)
        shop = self.sender(broker, "orders")
        self.send(shop, 1, 20)
        shop.start()
        self.error_of(shop, "overloaded")
        self.assertEqual(shop.number("SELECT max(retry_count) FROM outbox_messages"), 0)

    def test_what_a_foreign_client_publishes_takes_effect_once_and_is_acknowledged(self):
        broker = self.broker()
        broker.declare("orders")
        stock = self.taker(broker, "orders").start()
        given = [{"id": f"order-{n}", "body": f'{{"n":{n}}}', "type": "application/json",
                  "headers": {"rf-endpoint": "Placed"}} for n in range(100)]
        broker.peer("publish", "orders", lines=given)
        # Again, under the same ids: the inbox knows them.
        broker.peer("publish", "orders", lines=[one | {"again": True} for one in given[:20]])
        self.effects(stock, 100)
        source = lambda: stock.get_json("/_rf/consume")["sources"][0]  # noqa: E731
        self.assertTrue(eventually(lambda: source()["inHand"] == 0 and source()["processed"] == 100), source())
        self.assertTrue(source()["connected"])

    def test_poison_is_put_aside_with_its_payload_and_why_and_can_be_given_again(self):
        broker = self.broker()
        broker.declare("orders")
        stock = self.taker(broker, "orders", more=', tries = "1"').start()
        broker.peer("publish", "orders", lines=[
            {"id": "without-endpoint", "body": '{"n":1}'},
            {"body": '{"n":2}', "headers": {"rf-endpoint": "Placed"}},
            {"id": "no-json", "body": "{", "type": "application/json", "headers": {"rf-endpoint": "Placed"}},
            {"id": "refused", "body": '{"n":4}', "type": "application/json", "headers": {"rf-endpoint": "Later"}},
            {"id": "good", "body": '{"n":5}', "type": "application/json", "headers": {"rf-endpoint": "Placed"}}])
        self.effects(stock, 1)
        dead = lambda: stock.get_json("/_rf/consume/dead")["messages"]  # noqa: E731
        self.assertTrue(eventually(lambda: len(dead()) == 4), dead())
        reasons = {one["messageId"]: one["reason"] for one in dead()}
        self.assertIn("no header rf-endpoint", reasons["without-endpoint"])
        self.assertIn("it has no id", reasons[""])
        self.assertIn("invalid_payload", reasons["no-json"])
        self.assertIn("no_handler", reasons["refused"])
        whole = stock.sql("SELECT body FROM posthorn_consume_dead WHERE message_id = 'refused'")
        self.assertEqual(whole, [(b'{"n":4}',)])
        # After the handler was added it is given to it, in place of the broker.
        seq = next(one["seq"] for one in dead() if one["messageId"] == "refused")
        stock.stop()
        key = f"phk_{base64.urlsafe_b64encode(os.urandom(24)).decode()}"
        known = (f'[admin]\nkeys = [{{ name = "ann", role = "operator", hash = "sha256:'
                 f'{hashlib.sha256(key.encode()).hexdigest()}" }}]\n')
        stock.write(known + stock.file.read_text().replace(
            "[handlers]\n", '[handlers]\nLater = "sql:INSERT INTO effects (n) VALUES (:n)"\n'))
        stock.start()
        request = urllib.request.Request(
            f"http://127.0.0.1:{stock.admin}/_rf/consume/dead/{seq}/requeue", method="POST",
            headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(json.loads(answer.read()), {"requeued": True})
        self.effects(stock, 2)
        left = stock.get_json("/_rf/consume/dead", key)["messages"]
        self.assertEqual(len(left), 3)

    def test_a_source_without_an_inbox_is_refused_by_the_check(self):
        broker = suite.KINDS[self.kind](self.modules)
        self.addCleanup(broker.close)
        node = suite.Node(self.program, "stock", f"[consume]\nsources = [{broker.source('orders')}]\n",
                          environment=broker.environment)
        node.write(node.file.read_text().replace("[service]\n", '[service]\nparts = "outbox"\n'))
        done = subprocess.run([self.program, "config", "check", "--config", node.file],
                              capture_output=True, text=True, env=node.environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs an inbox", done.stdout + done.stderr)

    def test_over_tls_it_has_to_be_the_one_of_its_name_and_of_the_authority(self):
        certificates.make_all()
        certificates.make_certificate("broker", alternatives="DNS:localhost")
        authority, certificate, key = certificates.files_of("broker")
        broker = self.broker()
        broker.declare("orders")
        broker.kill()
        broker.use_tls(certificate, key)
        broker.start()

        def shop(believed, host):
            options = {"RabbitMq": 'exchange = "x.orders"', "Nats": 'subject = "orders.{endpoint}"'}
            one = self.node("shop", f'[tls]\nauthority = "{believed}"\n[routes]\nbroker = {{ '
                                    f'url = "{broker.tls_url(host)}", {options[self.kind]}, '
                                    'password = "env:BROKER_PASSWORD" }\n', broker)
            self.send(one, 1, 1)
            return one.start()

        self.sent(shop(authority, "localhost"), 1)
        for believed, host in ((certificates.FOLDER / "stranger.crt", "localhost"),
                               (authority, "127.0.0.1")):
            refused = shop(believed, host)
            self.error_of(refused, "unreachable")
            self.assertEqual(refused.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), 0)

    def test_a_broker_that_hangs_keeps_no_node_from_stopping_and_nothing_is_lost(self):
        broker = self.broker()
        broker.declare("orders")
        shop = self.sender(broker, "orders", outbox='drain_timeout = "1s"\n').start()
        stock = self.taker(broker, "orders").start()
        self.send(shop, 1, 10)
        self.effects(stock, 10)
        broker.hang()
        try:
            self.send(shop, 11, 10)
            self.assertEqual((shop.stop(60), stock.stop(60)), (0, 0))
        finally:
            broker.go_on()
        shop.start()
        stock.start()
        self.sent(shop, 20)
        self.effects(stock, 20)

    def test_a_node_that_starts_before_its_broker_publishes_soon_after_it_is_there(self):
        broker = self.broker()
        broker.declare("orders")
        broker.kill()
        shop = self.sender(broker, "orders")
        self.send(shop, 1, 30)
        shop.start()
        self.error_of(shop, "unreachable")
        self.assertTrue(eventually(lambda: "gives no answer that counts" in shop.log_text()))
        broker.start()
        # Its breaker looks every two seconds at the latest, not once a minute.
        seen = eventually(lambda: shop.number(
            "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == 30, 20)
        self.assertTrue(seen, shop.log_text()[-3000:])


if __name__ == "__main__":
    suite.run(Brokers)
