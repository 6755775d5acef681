#!/usr/bin/env python3
"""Certificates on both sides: who speaks in a service's name must show that service's certificate.

mutual_test.py PROGRAM [TEST…]
"""

import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
import unittest
from pathlib import Path

from node import Node, eventually, new_folder
from wire import Receiver, envelope, sign

PROGRAM = sys.argv.pop(1)
SECRET = os.urandom(32)
SECRET_TEXT = "base64:" + base64.b64encode(SECRET).decode()
FOLDER = Path(new_folder())


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificate(name, common_name=None):
    """Signed by the one authority, for this machine."""
    key, request, made = (FOLDER / f"{name}.{end}" for end in ("key", "csr", "crt"))
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-subj", f"/CN={common_name or name}", "-keyout", key, "-out", request)
    extensions = FOLDER / f"{name}.ext"
    extensions.write_text("subjectAltName=IP:127.0.0.1\n")
    run("openssl", "x509", "-req", "-in", request, "-CA", FOLDER / "authority.crt", "-CAkey",
        FOLDER / "authority.key", "-days", "2", "-extfile", extensions, "-out", made)
    return made, key


def make_all():
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "2", "-subj", "/CN=authority", "-keyout", FOLDER / "authority.key",
        "-out", FOLDER / "authority.crt")
    for name in ("stock", "shop", "mallory", "crm"):
        make_certificate(name)


def tls_of(name):
    return (f'[tls]\ncertificate = "{FOLDER}/{name}.crt"\nkey = "{FOLDER}/{name}.key"\n'
            f'authority = "{FOLDER}/authority.crt"\nmutual = true\n')


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
        connection = http.client.HTTPSConnection("127.0.0.1", self.stock.port, timeout=30, context=context)
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


class FromPosthorn(unittest.TestCase):
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
