#!/usr/bin/env python3
"""Certificates on both sides: who speaks in a service's name must show that service's certificate.

mutual_test.py PROGRAM [TEST…]
"""

import base64
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import unittest

from certificates import FOLDER, files_of, make_all, tls_of
from node import Node, eventually
from wire import Receiver, envelope, sign

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()


class ToPosthorn(unittest.TestCase):
    def setUp(self):
        self.stock = Node(PROGRAM, "stock", tls_of("stock") + f'[secrets]\nshop = "{SECRET_TEXT}"\n'
                          '[handlers]\nReserve = "sql:INSERT INTO reservations VALUES (:sku)"\n').init()
        self.stock.sql("CREATE TABLE reservations (sku TEXT)")
        self.stock.start()

    def tearDown(self):
        self.stock.kill()

    def post(self, name):
        """Signed with the secret of shop, over a connection with somebody's certificate."""
        context = ssl.create_default_context(cafile=FOLDER / "authority.crt")
        if name:
            context.load_cert_chain(FOLDER / f"{name}.crt", FOLDER / f"{name}.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.stock.port, timeout=120, context=context)
        body = json.dumps(envelope("shop", "Reserve", {"sku": "tea"})).encode()
        headers = sign(SECRET, "shop", "stock", "request", "/_rf/receive", body)
        try:
            connection.request("POST", "/_rf/receive", body, headers | {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def test_nobody_connects_without_a_certificate_of_the_authority(self):
        with self.assertRaises(OSError):
            self.post(None)
        self.assertEqual(self.stock.sql("SELECT * FROM reservations"), [])

    def test_a_stolen_secret_is_of_no_use_with_another_services_certificate(self):
        status, answer = self.post("mallory")
        self.assertEqual((status, answer["code"]), (401, "bad_signature"))
        self.assertIn("certificate", answer["error"])
        self.assertEqual(self.stock.number("SELECT count(*) FROM inbox_messages"), 0)
        self.assertEqual(self.post("shop")[0], 200)
        self.assertEqual(self.stock.sql("SELECT * FROM reservations"), [("tea",)])


    def test_contracts_are_read_by_whoever_shows_a_certificate(self):
        def export(*files):
            return subprocess.run([PROGRAM, "contracts", "export", f"https://127.0.0.1:{self.stock.port}", *files],
                                  capture_output=True, text=True)

        authority, certificate, key = map(str, files_of("crm"))
        shown = export("--authority", authority, "--certificate", certificate, "--key", key)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["service"], "stock")
        for files in ((), ("--authority", authority), ("--certificate", certificate, "--key", key)):
            self.assertNotEqual(export(*files).returncode, 0, files)
        self.assertIn("--key", export("--certificate", certificate).stderr)


class FromPosthorn(unittest.TestCase):
    def test_a_certificate_that_is_renewed_is_shown_after_a_reload(self):
        for end in ("crt", "key"):
            shutil.copy(FOLDER / f"stranger.{end}", FOLDER / f"renewed.{end}")
        shop = Node(PROGRAM, "shop", "")
        receiver = Receiver("crm", {"shop": SECRET}, shop.folder / "crm.db")
        receiver.server.socket = self.serve("crm").wrap_socket(receiver.server.socket, server_side=True)
        shop.configure(tls_of("renewed") + f'[routes]\ncrm = "https://127.0.0.1:{receiver.port}"\n'
                       f'[secrets]\ncrm = "{SECRET_TEXT}"\n[outbox]\nretry_delay_base = "50ms"\n'
                       'retry_delay_max = "100ms"\njitter_max = "10ms"\nmax_retries = -1\n')
        shop.init().start()
        shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('crm', 'Bought', '1')")
        tried = lambda: shop.number("SELECT count(*) FROM outbox_attempts") > 0
        self.assertTrue(eventually(tried), shop.log_text())
        self.assertEqual(shop.number("SELECT retry_count FROM outbox_messages"), 0)
        for end in ("crt", "key"):
            shutil.copy(FOLDER / f"shop.{end}", FOLDER / f"renewed.{end}")
        shop.process.send_signal(signal.SIGHUP)
        sent = lambda: shop.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == 1
        self.assertTrue(eventually(sent), shop.log_text())
        self.assertEqual(receiver.effects(), [("Bought", 1)])
        shop.kill()
        receiver.close()

    def serve(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(FOLDER / f"{name}.crt", FOLDER / f"{name}.key")
        context.load_verify_locations(FOLDER / "authority.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def test_messages_go_to_the_service_whose_certificate_it_is_and_to_no_other(self):
        for name, delivered in (("mallory", False), ("crm", True)):
            with self.subTest(name):
                shop = Node(PROGRAM, "shop", "")
                receiver = Receiver("crm", {"shop": SECRET}, shop.folder / "crm.db")
                receiver.server.socket = self.serve(name).wrap_socket(receiver.server.socket,
                                                                      server_side=True)
                shop.configure(tls_of("shop") + f'[routes]\ncrm = "https://127.0.0.1:{receiver.port}"\n'
                               f'[secrets]\ncrm = "{SECRET_TEXT}"\n[outbox]\nretry_delay_base = "50ms"\n'
                               'retry_delay_max = "100ms"\njitter_max = "10ms"\n')
                shop.init().start()
                shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES"
                         " ('crm', 'Bought', '1')")
                if delivered:
                    sent = lambda: shop.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == 1
                    self.assertTrue(eventually(sent), shop.log_text())
                    self.assertEqual(receiver.effects(), [("Bought", 1)])
                else:
                    tried = lambda: "not that of the service crm" in str(
                        shop.sql("SELECT last_error FROM outbox_messages"))
                    self.assertTrue(eventually(tried), shop.log_text())
                    self.assertEqual((receiver.effects(), receiver.paths), ([], []))
                shop.kill()
                receiver.close()


if __name__ == "__main__":
    make_all()
    unittest.main(verbosity=2)
