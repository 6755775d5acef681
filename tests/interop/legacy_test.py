#!/usr/bin/env python3
"""Posthorn with peers that sign in an older way: both ways, and attacked.

legacy_test.py PROGRAM NODE_MODULES [TEST…]
"""

import base64
import json
import os
import subprocess
import sys
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

from legacy import encode, LegacyReceiver, LegacySender, signed, workflow_signature
from node import Node, eventually

PROGRAM = sys.argv.pop(1)
MODULES = sys.argv.pop(1)
HERE = Path(__file__).parent
CRM, BANK, SHOP = os.urandom(32), os.urandom(32), os.urandom(32)
ENGINE = "whsec_" + os.urandom(24).hex()  # That library takes the text itself for the key.


def base64_of(secret):
    secret = secret.encode() if isinstance(secret, str) else secret
    return "base64:" + base64.b64encode(secret).decode()


STOCK = f"""
[secrets]
crm = "{base64_of(CRM)}"
bank = "{base64_of(BANK)}"
shop = "{base64_of(SHOP)}"
engine = "{base64_of(ENGINE)}"
[signatures]
crm = "rf-hmac"
bank = "rf-hmac"
engine = "x-workflow"
[handlers]
Reserve = "sql:INSERT INTO reservations(sku, quantity) VALUES (:sku, :quantity)"
"""


def stripe(script, text, *arguments):
    done = subprocess.run(["node", HERE / script, *arguments], input=text, text=True,
                          capture_output=True, env=os.environ | {"NODE_PATH": MODULES})
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


class ToPosthorn(unittest.TestCase):
    def setUp(self):
        self.stock = Node(PROGRAM, "stock", STOCK).init()
        self.stock.sql("CREATE TABLE reservations (sku TEXT, quantity INTEGER)")
        self.stock.start()
        self.sender = LegacySender(self.stock.port)

    def tearDown(self):
        self.sender.close()
        self.stock.kill()

    def reservations(self):
        return self.stock.sql("SELECT sku, quantity FROM reservations ORDER BY rowid")

    def reserve(self, secret=CRM, source="crm", quantity=1, **more):
        return signed(secret, source, "Reserve", {"sku": "tée", "quantity": quantity}, **more)

    def refused(self, message, headers=None):
        status, answer = self.sender.send(message, headers)
        self.assertEqual((status, answer["code"]), (401, "bad_signature"))

    def nothing_happened(self):
        rows = self.stock.number("SELECT count(*) FROM inbox_messages")
        self.assertEqual((rows, self.reservations()), (0, []))
        self.assertEqual(self.sender.send(self.reserve())[0], 200)  # A good one works.

    def test_a_message_of_the_description_takes_effect_once(self):
        message = self.reserve(quantity=3)
        status, answer = self.sender.send(message)
        self.assertEqual((status, answer["acknowledged"], answer["duplicateDetected"]), (200, True, False))
        status, answer = self.sender.send(message)
        self.assertEqual((status, answer["acknowledged"], answer["duplicateDetected"]), (200, True, True))
        self.assertEqual(self.reservations(), [("tée", 3)])

    def test_a_message_in_pascal_case_is_understood(self):
        message = self.reserve()
        pascal = {name[0].upper() + name[1:]: value for name, value in message.items()}
        self.assertEqual(self.sender.send(pascal)[0], 200)

    def test_a_peer_speaks_in_nobody_elses_name(self):
        self.refused(self.reserve(CRM, "bank"))      # Another one on an older scheme.
        self.refused(self.reserve(CRM, "shop"))      # One that signs with v2.
        self.refused(self.reserve(SHOP, "shop"))     # Even with its key: not in a weaker scheme.
        self.refused(self.reserve(CRM, "engine"))
        self.refused(self.reserve(CRM, "stock"))     # Ourselves.
        self.refused(self.reserve(CRM, "nobody"))
        message = self.reserve()
        message["sourceServiceId"] = "bank"          # Changed after it was signed.
        self.refused(message)
        shifted = self.reserve(CRM, "crm")           # The bytes between two fields moved.
        shifted["sourceServiceId"], shifted["endpoint"] = "cr", "mReserve"
        self.refused(shifted)
        self.nothing_happened()

    def test_what_was_changed_on_the_way_is_refused(self):
        for change in ({"payload": {"sku": "tée", "quantity": 100}}, {"endpoint": "Other"},
                       {"messageId": str(uuid.uuid4())}, {"headers": {}}):
            self.refused(self.reserve() | change)
        self.nothing_happened()

    def test_a_replay_inside_the_window_has_no_second_effect(self):
        message = self.reserve()
        body = encode(message)
        answers = [self.sender.send(body) for _ in range(3)]
        self.assertEqual([answer["duplicateDetected"] for _, answer in answers], [False, True, True])
        self.assertEqual(len(self.reservations()), 1)

    def test_a_replay_outside_the_window_is_refused(self):
        old = datetime.now(timezone.utc) - timedelta(hours=25)
        status, answer = self.sender.send(self.reserve(created=old))
        self.assertEqual((status, answer["code"]), (410, "message_expired"))
        # Whoever replays it may change the time, which is not signed; an id of version 7 has another.
        made = int((datetime.now(timezone.utc) - timedelta(hours=49)).timestamp() * 1000)
        seven = f"{made:012x}"
        message = self.reserve(messageId=f"{seven[:8]}-{seven[8:]}-7abc-8abc-0123456789ab")
        status, answer = self.sender.send(message)
        self.assertEqual((status, answer["code"]), (410, "message_expired"))
        ahead = datetime.now(timezone.utc) + timedelta(minutes=6)
        self.refused(self.reserve(created=ahead))
        self.nothing_happened()

    def engine_message(self):
        message = self.reserve(b"unused", "engine")
        del message["headers"]["rf-hmac"]
        return json.dumps(message)

    def test_the_library_of_a_payment_service_signs_what_is_taken_in(self):
        body = self.engine_message()
        header = stripe("sign_stripe.js", body, ENGINE)
        for duplicate in (False, True):
            status, answer = self.sender.send(body.encode(), {"X-Workflow-Signature": header})
            self.assertEqual((status, answer["duplicateDetected"]), (200, duplicate), answer)
        self.assertEqual(len(self.reservations()), 1)

    def test_a_workflow_signature_too_old_or_of_another_body_or_peer_is_refused(self):
        body = self.engine_message()
        now = int(datetime.now(timezone.utc).timestamp())
        old = stripe("sign_stripe.js", body, ENGINE, str(now - 302))
        self.refused(body.encode(), {"X-Workflow-Signature": old})
        fresh = stripe("sign_stripe.js", body, ENGINE)
        self.refused(body.encode() + b" ", {"X-Workflow-Signature": fresh})
        renamed = body.replace('"engine"', '"crm"')
        self.refused(renamed.encode(),
                     {"X-Workflow-Signature": stripe("sign_stripe.js", renamed, ENGINE)})
        self.refused(body.encode())
        status, _ = self.sender.send(body.encode(), {"X-Workflow-Signature": fresh})
        self.assertEqual(status, 200)


    def command(self, document, secret=ENGINE.encode(), method="Reserve", seconds=None):
        body = json.dumps(document).encode()
        return self.sender.send(body, {"X-Workflow-Signature": workflow_signature(secret, body, seconds)},
                                f"/api/_workflow/inbox/{method}")

    def test_a_command_at_its_own_endpoint_takes_effect_once(self):
        name = str(uuid.uuid4())
        for duplicate in (False, True):
            status, answer = self.command({"CommandId": name, "Payload": {"sku": "tea", "quantity": 2}})
            self.assertEqual((status, answer["duplicateDetected"]), (200, duplicate), answer)
        status, _ = self.command({"commandId": str(uuid.uuid4()), "sku": "milk", "quantity": 1})
        self.assertEqual(status, 200)  # Its fields are the payload.
        self.assertEqual(self.reservations(), [("tea", 2), ("milk", 1)])
        self.assertEqual(self.stock.sql("SELECT DISTINCT source_service_id FROM inbox_messages"),
                         [("engine",)])

    def test_a_command_that_is_not_the_engines_is_refused_before_the_inbox(self):
        document = {"CommandId": str(uuid.uuid4()), "Payload": {"sku": "tea", "quantity": 2}}
        now = int(datetime.now(timezone.utc).timestamp())
        for secret, seconds in ((CRM, None), (SHOP, None), (b"x", None), (ENGINE.encode(), now - 302)):
            status, answer = self.command(document, secret, seconds=seconds)
            self.assertEqual((status, answer["code"]), (401, "bad_signature"))
        unsigned, _ = self.sender.send(document, path="/api/_workflow/inbox/Reserve")
        self.assertEqual(unsigned, 401)
        status, _ = self.command(document | {"messageId": document["CommandId"], "sourceServiceId": "shop",
                                             "messageType": "Signal", "endpoint": "Reserve"})
        self.assertEqual(status, 401)  # Signed by the engine, said to be of shop.
        self.nothing_happened()

    def test_a_command_that_fails_is_a_5xx_so_that_it_comes_again(self):
        self.assertEqual(self.command({"CommandId": str(uuid.uuid4())}, method="Unknown")[0], 503)
        lacking = {"CommandId": str(uuid.uuid4()), "Payload": {"sku": "tea"}}
        self.assertEqual(self.command(lacking)[0], 422)  # Trying again cannot help.
        self.stock.sql("ALTER TABLE reservations RENAME TO elsewhere")
        good = {"CommandId": str(uuid.uuid4()), "Payload": {"sku": "tea", "quantity": 2}}
        self.assertGreaterEqual(self.command(good)[0], 500)
        self.stock.sql("ALTER TABLE elsewhere RENAME TO reservations")
        self.assertEqual(self.command(good)[0], 200)

    def test_health_is_where_the_description_has_it(self):
        self.sender.connection.request("GET", "/_workflow/health")
        answer = self.sender.connection.getresponse()
        seen = json.loads(answer.read())
        self.assertEqual((answer.status, seen["status"], seen["service"]), (200, "green", "stock"))
        self.assertEqual(self.stock.get_json("/_workflow/health")["status"], "green")


class FromPosthorn(unittest.TestCase):
    def start(self, signature, secret, receiver):
        self.shop = Node(PROGRAM, "shop", "")
        self.receiver = receiver(secret, self.shop.folder / "crm.db")
        self.shop.configure(
            f'[routes]\ncrm = {{ url = "http://127.0.0.1:{self.receiver.port}", signature = "{signature}" }}\n'
            f'[secrets]\ncrm = "{base64_of(secret)}"\n'
            '[outbox]\nretry_delay_base = "50ms"\nretry_delay_max = "100ms"\njitter_max = "10ms"\n')
        self.shop.init().start()

    def tearDown(self):
        self.shop.kill()
        self.receiver.close()

    def produce(self, payload):
        self.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
                      " ('crm', 'Bought', ?)", payload)

    def states(self):
        return dict(self.shop.sql("SELECT status, count(*) FROM outbox_messages GROUP BY status"))

    def test_a_receiver_of_the_description_verifies_and_its_unsigned_answer_counts(self):
        self.start("rf-hmac", CRM, LegacyReceiver)
        self.receiver.fail = 2
        payloads = ['{"number": 1,\n "who": "Zoë"}', '[1,2.5,true,null,"a\\"b"]', '"text"', "null"]
        for payload in payloads:
            self.produce(payload)
        self.assertTrue(eventually(lambda: self.states() == {"Sent": len(payloads)}), self.states())
        effects = sorted(json.dumps(payload) for _, _, payload in self.receiver.effects())
        self.assertEqual(effects, sorted(json.dumps(json.loads(payload)) for payload in payloads))
        self.assertEqual({source for source, _, _ in self.receiver.effects()}, {"shop"})

    def test_the_library_of_a_payment_service_verifies_what_is_sent(self):
        class Accepting(LegacyReceiver):
            def answer(self, path, headers, body):
                if path != "/api/_workflow/inbox/Bought" or "commandId" not in json.loads(body):
                    return 400, None
                return 200, None  # A status is all that the description asks for.

        self.start("x-workflow", ENGINE, Accepting)
        for number in range(3):
            self.produce(json.dumps({"number": number, "who": "Zoë"}))
        self.assertTrue(eventually(lambda: self.states() == {"Sent": 3}), self.states())
        lines = [json.dumps({"header": headers["X-Workflow-Signature"], "body": body.decode(),
                             "secret": ENGINE}) for headers, body in self.receiver.bodies]
        forged = json.loads(lines[0]) | {"secret": "whsec_other"}
        self.assertEqual(stripe("verify_stripe.js", "\n".join(lines)), "3")
        self.assertEqual(stripe("verify_stripe.js", json.dumps(forged)), "0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
