#!/usr/bin/env python3
"""A night on call, with only the desk at hand: what is stuck is found where the page begins, with its
reason and since when, and cured in a few clicks, which are counted.

    trial_test.py PROGRAM NODE_MODULES [CASE...]
"""

import json
import signal
import socket
import time
import unittest
import urllib.request

from desk_case import PROGRAM, DeskCase, admin_key
import certificates
from node import Node, eventually, new_folder
from webhook_receiver import AnsweringReceiver

SECRET = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OLD_SECRET = "base64:ISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A="
COUNT = "SELECT count(*) FROM outbox_messages WHERE destination = ? AND status = ?"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


class Trial(DeskCase):
    """`orders` sends to `stock`, which refuses some; to `billing`, which is down so that some expire; to
    `vault`, whose certificate has expired; to `bank`, which has an old key; and to a webhook that answers
    500. `shop` sends it what its own handler cannot take. All is mended last."""

    SCRIPT = "trial.js"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = new_folder()
        certificates.make_all()
        cls.operator = admin_key("night-shift", "--role", "operator", "--payloads", "--secrets")
        cls.billing_port = free_port()
        cls.stock = cls.node("stock", f'[secrets]\norders = "{SECRET}"\n[handlers]\n'
                               'Ship = "sql:INSERT INTO shipped VALUES (:item)"\n'
                               'Count = "sql:INSERT INTO counted VALUES (:item, :count)"\n')
        cls.stock.sql("CREATE TABLE counted (item TEXT, count INTEGER CHECK (count > 0))")
        cls.stock.init().start()
        cls.bank = cls.node("bank", f'[secrets]\norders = "{OLD_SECRET}"\n[handlers]\n'
                              'Pay = "sql:INSERT INTO done VALUES (:order)"\n')
        cls.bank.sql("CREATE TABLE done (item)")
        cls.bank.init().start()
        cls.old_vault = certificates.ExpiredServer("vault")
        cls.addClassCleanup(cls.old_vault.close)
        cls.receiver = AnsweringReceiver(500, "out of order")
        cls.addClassCleanup(cls.receiver.close)
        cls.orders = cls.node(
            "orders", "".join(f'{name} = "{SECRET}"\n' for name in ["[secrets]\nstock", "billing", "vault", "bank", "shop"])
            + f'[routes]\nstock = "http://127.0.0.1:{cls.stock.port}"\n'
            f'billing = "http://127.0.0.1:{cls.billing_port}"\n'
            f'bank = "http://127.0.0.1:{cls.bank.port}"\n'
            f'vault = "https://127.0.0.1:{cls.old_vault.port}"\n'
            f'[tls]\nauthority = "{certificates.files_of("vault")[0]}"\n'
            '[outbox]\nmax_retries = 1\nretry_delay_base = "10ms"\n'
            '[handlers]\nLabel = "sql:INSERT INTO labels VALUES (:item)"\n'
            '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
            '[admin]\nkeys = [{ name = "night-shift", role = "operator", payloads = true, secrets = true,'
            f' made = "{cls.operator["made"]}", hash = "{cls.operator["hash"]}" }}]\n')
        cls.orders.init().start()
        cls.shop = cls.node("shop", f'[secrets]\norders = "{SECRET}"\n'
                              f'[routes]\norders = "http://127.0.0.1:{cls.orders.port}"\n')
        cls.shop.init().start()
        for node in [cls.stock, cls.bank, cls.orders, cls.shop]:
            cls.addClassCleanup(node.kill)
        cls.break_things()

    @classmethod
    def node(cls, name, configuration):
        return Node(PROGRAM, name, configuration, cls.folder)

    @classmethod
    def send(cls, destination, endpoint, payload, order_key=None, by=None, expires_in_ms=86_400_000):
        (by or cls.orders).sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key, expires_at)"
                                " VALUES (?, ?, ?, ?, ?)", destination, endpoint, json.dumps(payload), order_key,
                                int(time.time() * 1000) + expires_in_ms)

    @classmethod
    def break_things(cls):
        request = urllib.request.Request(f"http://127.0.0.1:{cls.orders.admin}/_rf/webhooks",
                                         json.dumps({"url": cls.receiver.url, "maxRetries": 1}).encode(),
                                         {"Authorization": f"Bearer {cls.operator['key']}"})
        urllib.request.urlopen(request, timeout=120).close()
        for i in range(3):
            cls.send("webhooks", "order.paid", {"order": i})
            cls.send("billing", "Charge", {"order": i})
            cls.send("stock", "Ship", {"item": f"crate {i}"})
            cls.send("bank", "Pay", {"order": i})
            cls.send("vault", "Keep", {"item": f"deed {i}"})
            cls.send("stock", "Count", {"item": "shelf", "count": i - 1 or 5}, order_key="aisle 7")
            cls.send("orders", "Label", {"item": f"tag {i}"}, by=cls.shop)
        for i in range(3, 5):
            cls.send("billing", "Charge", {"order": i}, expires_in_ms=500)
        cls.comes_to(cls.orders, 4, COUNT, "stock", "Dead")
        cls.comes_to(cls.orders, 2, COUNT, "billing", "Expired")
        cls.comes_to(cls.orders, True, "SELECT count(*) > 0 FROM outbox_messages WHERE status = 'Dead'"
                      " AND destination LIKE 'webhook:%'")
        # More than are tried before the endpoint is left alone, so that some wait for it.
        for i in range(3, 12):
            cls.send("webhooks", "order.paid", {"order": i})
        cls.comes_to(cls.shop, 3, "SELECT count(*) FROM outbox_messages WHERE retry_count > 0")

    @classmethod
    def comes_to(cls, node, number, *asked):
        assert eventually(lambda: node.number(*asked) == number), node.log_text()[-4000:]

    def browse(self, case, answer=None):
        self.run_case(case, {"orders": f"http://127.0.0.1:{self.orders.admin}", "operator": self.operator["key"]}, answer)

    def begin(self, name, port, handlers, more=""):
        """Another service, at the address where it was missed."""
        node = self.node(name, f'[secrets]\norders = "{SECRET}"\n[handlers]\n{handlers}\n{more}')
        node.write(node.file.read_text().replace('http = "127.0.0.1:0"', f'http = "127.0.0.1:{port}"'))
        node.sql("CREATE TABLE done (item)")
        node.init().start()
        self.addCleanup(node.kill)
        return node

    def test_1_what_is_stuck_is_seen_in_one_look_with_why_and_since_when(self):
        self.browse("look")

    def mend(self, name):
        if name == "billing":
            self.billing = self.begin(name, self.billing_port, 'Charge = "sql:INSERT INTO done VALUES (:order)"')
        elif name == "vault":
            self.old_vault.close()
            certificates.make_certificate("vault")
            _, certificate, key = certificates.files_of("vault")
            self.vault = self.begin(name, self.old_vault.port, 'Keep = "sql:INSERT INTO done VALUES (:item)"',
                                    f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\n')
        elif name == "bank":
            self.bank.write(self.bank.file.read_text().replace(OLD_SECRET, SECRET))
            self.bank.process.send_signal(signal.SIGHUP)
            self.assertTrue(eventually(lambda: "Reload: routes" in self.bank.log_text()), self.bank.log_text()[-2000:])
        else:
            self.receiver.status = 200

    def test_5_it_is_found_and_cured_in_a_few_clicks(self):
        self.stock.sql("CREATE TABLE shipped (item TEXT)")
        self.browse("cure", self.mend)
        for node, asked, number in [(self.billing, "done", 5), (self.vault, "done", 3), (self.bank, "done", 3),
                                    (self.stock, "shipped", 3),
                                    (self.stock, "counted", 2)]:
            self.comes_to(node, number, f"SELECT count(*) FROM {asked}")
        self.comes_to(self.orders, 0, "SELECT count(*) FROM outbox_messages WHERE status IN"
                      " ('Pending', 'Dead', 'Expired')")

    def test_4_keys_alone_on_a_phone_in_the_dark_do_as_well(self):
        self.browse("keyboard")

    def test_2_each_reason_leads_to_its_cure(self):
        self.browse("advice")

    def test_3_what_a_page_is_for_is_asked_for_first(self):
        self.browse("first")


if __name__ == "__main__":
    unittest.main()
