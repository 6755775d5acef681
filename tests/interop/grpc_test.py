#!/usr/bin/env python3
"""Posthorn and peers over gRPC that were not written with it: a client and a server from npm.

grpc_test.py PROGRAM NODE_MODULES [TEST…]
"""

import base64
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import certificates
from node import Node, eventually
from wire import Receiver, envelope, is_signed, sign

PROGRAM = sys.argv.pop(1)
MODULES = sys.argv.pop(1)
HERE = Path(__file__).parent
PROTO = HERE.parent.parent / "docs" / "reference" / "rf_receiver.proto"
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
NPM = os.environ | {"NODE_PATH": MODULES}
HANDLER = '[handlers]\nReserve = "sql:INSERT INTO reservations VALUES (:sku)"\n'
HASTE = '[outbox]\nretry_delay_base = "50ms"\nretry_delay_max = "100ms"\njitter_max = "10ms"\n'


def request(document, number=1, path="/_rf/receive", source="shop", **more):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    headers = sign(SECRET, source, "stock", "request", path, body)
    return {"number": number, "path": path, "headers": headers,
            "body": base64.b64encode(body).decode()} | more


class GrpcNode(Node):
    """A node that listens for gRPC too; that is the last place that it names."""

    def __init__(self, service, configuration, host="127.0.0.1"):
        super().__init__(PROGRAM, service, configuration, listen=f'grpc = "{host}:0"\n')

    def start(self):
        super().start()
        line = ""
        while "grpc" not in line:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the node ended: {self.log_text()}")
        self.grpc = re.search(r"grpcs?://(\S+:\d+)", line)[1]
        return self

    def ask(self, *calls, tls=None, deadline=20000):
        wish = {"address": self.grpc, "proto": str(PROTO), "tls": tls, "deadline": deadline, "calls": calls}
        done = subprocess.run(["node", HERE / "grpc_client.js"], input=json.dumps(wish), text=True,
                              capture_output=True, env=NPM, timeout=240)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


def stock(more="", **options):
    node = GrpcNode("stock", f'[secrets]\nshop = "{SECRET_TEXT}"\n' + HANDLER + more, **options).init()
    node.sql("CREATE TABLE reservations (sku TEXT)")
    return node.start()


def answer_of(reply):
    return json.loads(base64.b64decode(reply["body"]))


class ToPosthorn(unittest.TestCase):
    def setUp(self):
        self.stock = stock()

    def tearDown(self):
        self.stock.kill()

    def reservations(self):
        return [sku for sku, in self.stock.sql("SELECT sku FROM reservations ORDER BY rowid")]

    def assert_signed(self, reply, asked, path="/_rf/receive"):
        self.assertTrue(is_signed(SECRET, reply["headers"], "stock", "shop", "answer", path,
                                  base64.b64decode(reply["body"]), reply["headers"]["content-type"],
                                  asked["rf-hmac"], reply["status"]), reply)

    def test_one_message_takes_effect_once_and_its_answer_is_signed(self):
        asked = request(envelope("shop", "Reserve", {"sku": "tea"}), number=7)
        first, = self.stock.ask({"kind": "receive", "requests": [asked]})[0]
        again, = self.stock.ask({"kind": "receive", "requests": [asked]})[0]
        self.assertEqual((first["status"], first["number"]), (200, "7"), first)
        self.assert_signed(first, asked["headers"])
        self.assertEqual(answer_of(first)["duplicateDetected"], False)
        self.assertEqual(answer_of(again)["duplicateDetected"], True)
        self.assertEqual(self.reservations(), ["tea"])

    def test_a_signature_may_stand_in_metadata(self):
        asked = request(envelope("shop", "Reserve", {"sku": "tea"}))
        asked["metadata"] = asked.pop("headers")
        reply, = self.stock.ask({"kind": "receive", "requests": [asked]})[0]
        self.assertEqual(reply["status"], 200, reply)
        self.assert_signed(reply, asked["metadata"])
        self.assertEqual(reply["trailers"]["rf-hmac"], reply["headers"]["rf-hmac"])

    def test_each_request_of_a_stream_has_its_answer(self):
        asked = [request(envelope("shop", "Reserve", {"sku": f"tea {i}"}), number=i) for i in range(300)]
        asked.append(request({"messages": [envelope("shop", "Reserve", {"sku": "cups"})]}, number=1000,
                             path="/_rf/receive-batch"))
        asked.append(request(envelope("shop", "Nobody", {}), number=1001))
        came, = self.stock.ask({"kind": "stream", "requests": asked})
        replies = {int(one["number"]): one for one in came["replies"]}
        self.assertEqual((came.get("failed"), len(came["replies"])), (None, 302), came)
        self.assertEqual(replies.keys(), {int(one["number"]) for one in asked})
        for one in asked:
            self.assert_signed(replies[one["number"]], one["headers"], one["path"])
        self.assertEqual(answer_of(replies[1000])["results"][0]["acknowledged"], True)
        self.assertEqual((replies[1001]["status"], answer_of(replies[1001])["code"]), (404, "no_handler"))
        self.assertEqual(len(self.reservations()), 301)

    def test_a_client_can_be_made_from_what_the_node_tells_about_itself(self):
        asked = request(envelope("shop", "Reserve", {"sku": "tea"}))
        services, (reply,) = self.stock.ask({"kind": "services"}, {"kind": "reflected", "requests": [asked]})
        self.assertLessEqual({"RFReceiver", "grpc.health.v1.Health"}, set(services))
        self.assertEqual(reply.get("status"), 200, reply)
        self.assertEqual(self.reservations(), ["tea"])

    def test_health_is_told_in_the_standard_way(self):
        self.assertEqual(self.stock.ask({"kind": "health"}, {"kind": "health", "service": "RFReceiver"}),
                         ["SERVING", "SERVING"])

    def test_what_nobody_signed_or_who_is_not_known_has_no_effect(self):
        message = envelope("shop", "Reserve", {"sku": "tea"})
        bare = request(message) | {"headers": {}}
        changed = request(message) | {"body": base64.b64encode(json.dumps(message | {"endpoint": "x"}).encode()).decode()}
        stranger = request(envelope("crm", "Reserve", {"sku": "tea"}), source="crm")
        elsewhere = request(message, path="/_rf/receive-batch") | {"path": "/_rf/receive"}
        twice = request(message)
        twice["headers"]["RF-Source"] = "crm"
        admin = request(message, path="/_rf/outbox/stats")
        replies = self.stock.ask({"kind": "receive",
                                  "requests": [bare, changed, stranger, elsewhere, admin, twice]})[0]
        self.assertEqual([one["status"] for one in replies], [401, 401, 401, 401, 401, 400], replies)
        self.assertEqual(self.reservations(), [])

    def test_what_is_past_a_limit_is_refused_and_others_are_served(self):
        long_body = request(b" " * ((1 << 20) + (64 << 10) + 1))
        long_head = request(envelope("shop", "Reserve", {"sku": "x"}))
        long_head["headers"]["rf-more"] = "x" * (16 << 10)
        huge = request(b" " * (8 << 20))
        fine = request(envelope("shop", "Reserve", {"sku": "tea"}))
        replies = self.stock.ask({"kind": "receive", "requests": [long_body, long_head, huge, fine]})[0]
        self.assertEqual([one.get("status") for one in replies], [413, 431, None, 200], replies)
        self.assertEqual(replies[2]["failed"], 8, replies[2])  # RESOURCE_EXHAUSTED, read by nobody.
        self.assertEqual(self.reservations(), ["tea"])

    def test_a_stream_on_which_nothing_moves_is_ended(self):
        self.stock.kill()
        self.stock = stock('[limits]\nidle_timeout = "1s"\n')
        asked = request(envelope("shop", "Reserve", {"sku": "tea"}))
        came, = self.stock.ask({"kind": "stream", "requests": [asked], "end_after": 2})
        self.assertEqual((len(came["replies"]), came["failed"]), (1, 14), came)
        self.assertIn("nothing came", came["why"])

    def test_a_stop_ends_an_open_stream_after_its_answers(self):
        asked = request(envelope("shop", "Reserve", {"sku": "tea"}))
        wish = {"address": self.stock.grpc, "proto": str(PROTO),
                "calls": [{"kind": "stream", "requests": [asked], "end_after": 2}]}
        client = subprocess.Popen(["node", HERE / "grpc_client.js"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, env=NPM)
        client.stdin.write(json.dumps(wish))
        client.stdin.close()
        self.assertTrue(eventually(lambda: self.reservations() == ["tea"]))
        self.assertEqual(self.stock.stop(), 0)
        came, = json.loads(client.stdout.read())
        client.stdout.close()
        client.wait()
        self.assertEqual((len(came["replies"]), came["failed"]), (1, 14), came)  # UNAVAILABLE


class FromPosthorn(unittest.TestCase):
    def deliver(self, receiver, scheme="grpc", tls=(), configuration=""):
        """Sends one message through the server from npm; the node, which is to be killed."""
        server = subprocess.Popen(["node", HERE / "grpc_receiver.js", PROTO, str(receiver.port), *tls],
                                  stdout=subprocess.PIPE, text=True, env=NPM)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        port = int(server.stdout.readline())
        shop = Node(PROGRAM, "shop", configuration + HASTE + f'[routes]\ncrm = "{scheme}://127.0.0.1:{port}"\n'
                    f'[secrets]\ncrm = "{SECRET_TEXT}"\n').init().start()
        self.addCleanup(shop.kill)
        shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('crm', 'Bought', '1')")
        return shop

    def receiver(self):
        made = Receiver("crm", {"shop": SECRET}, Path(certificates.FOLDER) / f"{self.id()}.db")
        self.addCleanup(made.close)
        return made

    def is_sent(self, shop):
        return lambda: shop.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == 1

    def test_messages_reach_a_server_made_from_the_proto(self):
        receiver = self.receiver()
        receiver.lose_answers = 1
        shop = self.deliver(receiver)
        self.assertTrue(eventually(self.is_sent(shop)), shop.log_text())
        self.assertEqual(receiver.effects(), [("Bought", 1)])

    def test_messages_go_to_the_service_whose_certificate_it_is_and_to_no_other(self):
        for name, delivered in (("mallory", False), ("crm", True)):
            with self.subTest(name):
                receiver = Receiver("crm", {"shop": SECRET}, Path(certificates.FOLDER) / f"to_{name}.db")
                shop = self.deliver(receiver, "grpcs", certificates.files_of(name), certificates.tls_of("shop"))
                if delivered:
                    self.assertTrue(eventually(self.is_sent(shop)), shop.log_text())
                    self.assertEqual(receiver.effects(), [("Bought", 1)])
                else:
                    tried = lambda: shop.number("SELECT count(*) FROM outbox_attempts") > 0
                    self.assertTrue(eventually(tried), shop.log_text())
                    self.assertIn("not that of the service crm",
                                  str(shop.sql("SELECT last_error FROM outbox_messages")))
                    self.assertEqual((receiver.effects(), receiver.paths), ([], []))
                receiver.close()


class WithCertificates(unittest.TestCase):
    def ask(self, node, name, source="shop"):
        files = dict(zip(("authority", "certificate", "key"), map(str, certificates.files_of(name))))
        asked = request(envelope(source, "Reserve", {"sku": name}), source=source)
        return node.ask({"kind": "receive", "requests": [asked]}, tls=files)[0][0]

    def test_a_stolen_secret_is_of_no_use_with_another_services_certificate(self):
        node = stock(certificates.tls_of("stock"), host="0.0.0.0")
        self.addCleanup(node.kill)
        node.grpc = node.grpc.replace("0.0.0.0", "127.0.0.1")
        reply = self.ask(node, "mallory")
        self.assertEqual((reply["status"], answer_of(reply)["code"]), (401, "bad_signature"))
        self.assertIn("certificate", answer_of(reply)["error"])
        self.assertEqual(self.ask(node, "shop")["status"], 200)
        nobody = node.ask({"kind": "receive", "requests": [request(b"{}")]}, deadline=3000,
                          tls={"authority": str(certificates.files_of("shop")[0])})[0][0]
        self.assertIn(nobody["failed"], (4, 14), nobody)
        self.assertEqual(node.sql("SELECT * FROM reservations"), [("shop",)])

    def test_two_nodes_show_each_other_who_they_are(self):
        node = stock(certificates.tls_of("stock"))
        self.addCleanup(node.kill)
        shop = Node(PROGRAM, "shop", certificates.tls_of("shop") + f'[routes]\nstock = "grpcs://{node.grpc}"\n'
                    f'[secrets]\nstock = "{SECRET_TEXT}"\n').init().start()
        self.addCleanup(shop.kill)
        shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
                 " ('stock', 'Reserve', '{\"sku\":\"tea\"}')")
        self.assertTrue(eventually(lambda: node.sql("SELECT * FROM reservations") == [("tea",)]), shop.log_text())


class Refusals(unittest.TestCase):
    def test_an_address_that_others_can_reach_needs_certificates_on_both_sides(self):
        for tls in ("", certificates.tls_of("stock").replace("mutual = true", "mutual = false")):
            node = GrpcNode("stock", tls, host="0.0.0.0")
            done = subprocess.run([PROGRAM, "serve", "--config", node.file], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("listen.grpc", done.stderr)
            self.assertIn("tls.mutual", done.stderr)


if __name__ == "__main__":
    certificates.make_all()
    unittest.main(verbosity=2)
