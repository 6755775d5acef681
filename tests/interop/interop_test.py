#!/usr/bin/env python3
"""Posthorn with peers that were not written with it: Python's standard library, curl, openssl.

interop_test.py PROGRAM [TEST…]
"""

import base64
import json
import os
import subprocess
import sys
import unittest
from datetime import timedelta
from pathlib import Path

from node import Node, eventually
from wire import Receiver, Sender, envelope, sign, now

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = base64.b64encode(SECRET).decode()
HERE = Path(__file__).parent

STOCK = f"""
[secrets]
shop = "base64:{SECRET_TEXT}"
[handlers]
Reserve = "sql:INSERT INTO reservations(sku, quantity) VALUES (:sku, :quantity)"
"""


class ToPosthorn(unittest.TestCase):
    """A sender in another language, a receiver that is only configured."""

    def setUp(self):
        self.stock = Node(PROGRAM, "stock", STOCK).init()
        self.stock.sql("CREATE TABLE reservations (sku TEXT, quantity INTEGER)")
        self.stock.start()
        self.sender = Sender(self.stock.port, "shop", "stock", SECRET)

    def tearDown(self):
        self.sender.connection.close()
        self.stock.kill()

    def reservations(self):
        return self.stock.sql("SELECT sku, quantity FROM reservations ORDER BY rowid")

    def inbox_rows(self):
        return self.stock.number("SELECT count(*) FROM inbox_messages")

    def test_one_message_takes_effect_once_and_its_answer_is_signed(self):
        message = envelope("shop", "Reserve", {"sku": "tea", "quantity": 3})
        status, answer, signed = self.sender.send(message)
        self.assertEqual((status, signed), (200, True), answer)
        self.assertEqual((answer["acknowledged"], answer["duplicateDetected"]), (True, False))
        status, answer, signed = self.sender.send(message)
        self.assertEqual((status, answer["duplicateDetected"], signed), (200, True, True))
        self.assertEqual(self.reservations(), [("tea", 3)])

    def test_pascal_case_is_understood(self):
        message = envelope("shop", "Reserve", {"sku": "tea", "quantity": 1})
        pascal = {name[0].upper() + name[1:]: value for name, value in message.items()}
        self.assertEqual(self.sender.send(pascal)[0], 200)
        self.assertEqual(self.reservations(), [("tea", 1)])

    def test_a_batch_is_answered_one_by_one(self):
        good = envelope("shop", "Reserve", {"sku": "tea", "quantity": 1})
        unknown = envelope("shop", "Recount", {})
        lacking = envelope("shop", "Reserve", {"sku": "tea"})
        status, answer, signed = self.sender.send_batch([good, unknown, lacking, good])
        self.assertEqual((status, signed), (200, True))
        results = answer["results"]
        self.assertEqual([one["messageId"] for one in results],
                         [one["messageId"] for one in (good, unknown, lacking, good)])
        self.assertEqual([one["acknowledged"] for one in results], [True, False, False, True])
        self.assertEqual((results[1]["status"], results[1]["code"]), (404, "no_handler"))
        self.assertEqual(results[2]["status"], 422)
        self.assertIn("quantity", results[2]["error"])
        self.assertTrue(results[3]["duplicateDetected"])
        self.assertEqual(self.reservations(), [("tea", 1)])

    def test_the_same_id_with_another_body_is_a_conflict(self):
        message = envelope("shop", "Reserve", {"sku": "tea", "quantity": 1})
        self.sender.send(message)
        message["payload"]["quantity"] = 100
        status, answer, _ = self.sender.send(message)
        self.assertEqual((status, answer["code"]), (409, "id_reused"))
        self.assertEqual(self.reservations(), [("tea", 1)])

    def refused(self, body, **changes):
        """Posts with a signature that is changed after it was made, or made wrongly."""
        path = "/_rf/receive"
        who = {"source": "shop", "destination": "stock", "direction": "request"}
        who |= {name: changes.pop(name) for name in list(changes) if name in who}
        headers = sign(changes.pop("secret", SECRET), who["source"], who["destination"],
                       who["direction"], path, body, request_hmac="x", status=200,
                       timestamp=changes.pop("timestamp", None))
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        status, answer, signed = self.sender.post(path, body, headers)
        self.assertEqual((status, answer["code"], signed), (401, "bad_signature", False))

    def test_what_is_not_signed_as_it_must_be_leaves_no_trace(self):
        body = json.dumps(envelope("shop", "Reserve", {"sku": "tea", "quantity": 1})).encode()
        foreign = json.dumps(envelope("bank", "Reserve", {"sku": "tea", "quantity": 1})).encode()
        self.refused(body, secret=os.urandom(32))
        self.refused(body, timestamp=now(timedelta(minutes=-5, seconds=-1)))
        self.refused(body, timestamp=now(timedelta(minutes=5, seconds=2)))
        self.refused(body, destination="billing")   # Meant for somebody else.
        self.refused(body, rf_destination="billing")
        self.refused(body, rf_source="shopstock", rf_destination="")  # Bytes moved.
        self.refused(body, source="unknown")
        self.refused(body, direction="answer")      # A reply sent back as a request.
        self.refused(body, rf_hmac="")
        self.refused(foreign)                       # Signed by shop, said to be of bank.
        self.assertEqual(self.sender.post("/_rf/receive", body, {})[0], 401)
        self.assertEqual((self.inbox_rows(), self.reservations()), (0, []))
        self.assertIn("HMAC verification failed", self.stock.log_text())
        self.assertEqual(self.sender.send(json.loads(body))[0], 200)

    def test_what_is_no_message_is_refused_by_name(self):
        for body in (b"", b"{", b"[]", b'{"messageId":7}', b'{"payload":' + b"[" * 65 + b"]" * 65 + b"}"):
            status, answer, signed = self.sender.post("/_rf/receive", body)
            self.assertEqual((status, answer["code"], signed), (400, "malformed_request", True), body)
        self.assertEqual(self.inbox_rows(), 0)

    def test_a_shell_script_with_curl_and_openssl_can_send(self):
        name = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001"
        command = [HERE / "send.sh", str(self.stock.port), "shop", "stock", SECRET_TEXT, "Reserve",
                   '{"sku":"milk","quantity":2}', name]
        first = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        again = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        self.assertEqual((first["acknowledged"], first["duplicateDetected"]), (True, False))
        self.assertEqual((again["acknowledged"], again["duplicateDetected"]), (True, True))
        self.assertEqual(self.reservations(), [("milk", 2)])


class FromPosthorn(unittest.TestCase):
    """A producer with plain SQL and a receiver in another language; Posthorn in between."""

    def setUp(self):
        self.shop = Node(PROGRAM, "shop", "")
        self.receiver = Receiver("crm", {"shop": SECRET}, self.shop.folder / "crm.db")
        self.shop.configure(f'[routes]\ncrm = "http://127.0.0.1:{self.receiver.port}"\n'
                            f'[secrets]\ncrm = "base64:{SECRET_TEXT}"\n'
                            '[outbox]\nretry_delay_base = "50ms"\nretry_delay_max = "100ms"\n'
                            'jitter_max = "10ms"\n')
        self.shop.init().start()

    def tearDown(self):
        self.shop.kill()
        self.receiver.close()

    def produce(self, number):
        self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
                      " ('crm', 'Bought', json_object('number', ?))", number)

    def states(self):
        return dict(self.shop.sql("SELECT status, count(*) FROM outbox_messages GROUP BY status"))

    def test_rows_of_plain_sql_arrive_though_the_peer_knows_no_batches(self):
        for number in range(20):
            self.produce(number)
        self.assertTrue(eventually(lambda: self.states() == {"Sent": 20}), self.states())
        effects = sorted(payload["number"] for _, payload in self.receiver.effects())
        self.assertEqual(effects, list(range(20)))
        self.assertLessEqual(self.receiver.paths.count("/_rf/receive-batch"), 4)

    def test_a_default_route_leads_to_destinations_without_one_of_their_own(self):
        self.shop.stop()
        self.shop.configure(f'[routes]\ndefault = "http://127.0.0.1:{self.receiver.port}"\n'
                            f'[secrets]\ncrm = "base64:{SECRET_TEXT}"\n')
        self.shop.start()
        self.produce(7)
        self.assertTrue(eventually(lambda: self.states() == {"Sent": 1}), self.states())
        self.assertEqual(self.receiver.effects(), [("Bought", {"number": 7})])

    def test_a_lost_answer_is_asked_for_again_and_doubles_nothing(self):
        self.receiver.lose_answers = 3
        self.produce(1)
        self.assertTrue(eventually(lambda: self.states() == {"Sent": 1}), self.states())
        self.assertEqual(self.receiver.effects(), [("Bought", {"number": 1})])
        self.assertEqual(self.shop.number("SELECT retry_count FROM outbox_messages"), 0)

    def test_a_forged_acknowledgement_settles_nothing(self):
        self.receiver.forge = True
        self.produce(1)
        tried = lambda: self.receiver.paths.count("/_rf/receive") >= 2
        self.assertTrue(eventually(tried))
        self.assertEqual(self.states(), {"Pending": 1})
        self.receiver.forge = False
        self.assertTrue(eventually(lambda: self.states() == {"Sent": 1}), self.states())
        self.assertEqual(len(self.receiver.effects()), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
