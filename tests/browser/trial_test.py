#!/usr/bin/env python3
"""A night on call, with only the desk at hand: what is stuck is found where the page begins, with its
reason and since when, and cured in a few clicks, which are counted.

    trial_test.py PROGRAM NODE_MODULES [CASE...]
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
import certificates
from node import Node, eventually, new_folder
from webhook_receiver import AnsweringReceiver

PROGRAM, MODULES = sys.argv.pop(1), sys.argv.pop(1)
SECRET = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OLD_SECRET = "base64:ISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A="
COUNT = "SELECT count(*) FROM outbox_messages WHERE destination = ? AND status = ?"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


class Trial(unittest.TestCase):
    """`orders` sends to `stock`, which refuses some; to `billing`, which is down so that some expire; to
    `vault`, whose certificate has expired; to `bank`, which has an old key; and to a webhook that answers 500. `shop` sends it what its own handler
    cannot take."""

    def setUp(self):
        self.folder = new_folder()
        certificates.make_all()
        made = subprocess.run([PROGRAM, "keys", "admin", "new", "--name", "night-shift", "--role", "operator",
                               "--payloads", "--secrets", "--json"], check=True, capture_output=True, text=True)
        self.operator = json.loads(made.stdout)
        self.billing_port = free_port()
        self.stock = self.node("stock", f'[secrets]\norders = "{SECRET}"\n[handlers]\n'
                               'Ship = "sql:INSERT INTO shipped VALUES (:item)"\n'
                               'Count = "sql:INSERT INTO counted VALUES (:item, :count)"\n')
        self.stock.sql("CREATE TABLE counted (item TEXT, count INTEGER CHECK (count > 0))")
        self.stock.init().start()
        self.bank = self.node("bank", f'[secrets]\norders = "{OLD_SECRET}"\n[handlers]\n'
                              'Pay = "sql:INSERT INTO done VALUES (:order)"\n')
        self.bank.sql("CREATE TABLE done (item)")
        self.bank.init().start()
        self.old_vault = certificates.ExpiredServer("vault")
        self.addCleanup(self.old_vault.close)
        self.receiver = AnsweringReceiver(500, "out of order")
        self.addCleanup(self.receiver.close)
        self.orders = self.node(
            "orders", "".join(f'{name} = "{SECRET}"\n' for name in ["[secrets]\nstock", "billing", "vault", "bank", "shop"])
            + f'[routes]\nstock = "http://127.0.0.1:{self.stock.port}"\n'
            f'billing = "http://127.0.0.1:{self.billing_port}"\n'
            f'bank = "http://127.0.0.1:{self.bank.port}"\n'
            f'vault = "https://127.0.0.1:{self.old_vault.port}"\n'
            f'[tls]\nauthority = "{certificates.files_of("vault")[0]}"\n'
            '[outbox]\nmax_retries = 1\nretry_delay_base = "10ms"\n'
            '[handlers]\nLabel = "sql:INSERT INTO labels VALUES (:item)"\n'
            '[webhooks]\nplain_http = true\nallow = "127.0.0.1"\nretry_pauses = "20ms"\n'
            '[admin]\nkeys = [{ name = "night-shift", role = "operator", payloads = true, secrets = true,'
            f' made = "{self.operator["made"]}", hash = "{self.operator["hash"]}" }}]\n')
        self.orders.init().start()
        self.shop = self.node("shop", f'[secrets]\norders = "{SECRET}"\n'
                              f'[routes]\norders = "http://127.0.0.1:{self.orders.port}"\n')
        self.shop.init().start()
        for node in [self.stock, self.bank, self.orders, self.shop]:
            self.addCleanup(node.kill)
        self.break_things()

    def node(self, name, configuration):
        return Node(PROGRAM, name, configuration, self.folder)

    def send(self, destination, endpoint, payload, order_key=None, by=None, expires_in_ms=86_400_000):
        (by or self.orders).sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key, expires_at)"
                                " VALUES (?, ?, ?, ?, ?)", destination, endpoint, json.dumps(payload), order_key,
                                int(time.time() * 1000) + expires_in_ms)

    def break_things(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.orders.admin}/_rf/webhooks",
                                         json.dumps({"url": self.receiver.url, "maxRetries": 1}).encode(),
                                         {"Authorization": f"Bearer {self.operator['key']}"})
        urllib.request.urlopen(request, timeout=30).close()
        for i in range(3):
            self.send("webhooks", "order.paid", {"order": i})
            self.send("billing", "Charge", {"order": i})
            self.send("stock", "Ship", {"item": f"crate {i}"})
            self.send("bank", "Pay", {"order": i})
            self.send("vault", "Keep", {"item": f"deed {i}"})
            self.send("stock", "Count", {"item": "shelf", "count": i - 1 or 5}, order_key="aisle 7")
            self.send("orders", "Label", {"item": f"tag {i}"}, by=self.shop)
        for i in range(3, 5):
            self.send("billing", "Charge", {"order": i}, expires_in_ms=500)
        self.comes_to(self.orders, 4, COUNT, "stock", "Dead")
        self.comes_to(self.orders, 2, COUNT, "billing", "Expired")
        self.comes_to(self.orders, True, "SELECT count(*) > 0 FROM outbox_messages WHERE status = 'Dead'"
                      " AND destination LIKE 'webhook:%'")
        # More than are tried before the endpoint is left alone, so that some wait for it.
        for i in range(3, 12):
            self.send("webhooks", "order.paid", {"order": i})
        self.comes_to(self.shop, 3, "SELECT count(*) FROM outbox_messages WHERE retry_count > 0")

    def comes_to(self, node, number, *asked):
        self.assertTrue(eventually(lambda: node.number(*asked) == number), node.log_text()[-4000:])

    def start_browsing(self, case):
        told = {"orders": f"http://127.0.0.1:{self.orders.admin}", "operator": self.operator["key"]}
        running = subprocess.Popen(["node", Path(__file__).with_name("trial.js"), case, json.dumps(told)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=os.environ | {"NODE_PATH": MODULES})
        for end in [running.stdout.close, running.stdin.close, running.wait, running.kill]:  # The last goes first.
            self.addCleanup(end)
        return running

    def browse(self, case):
        page = self.start_browsing(case)
        said, _ = page.communicate()
        self.assertEqual(page.returncode, 0, said)

    def begin(self, name, port, handlers, more=""):
        """Another service, at the address where it was missed."""
        node = self.node(name, f'[secrets]\norders = "{SECRET}"\n[handlers]\n{handlers}\n{more}')
        node.write(node.file.read_text().replace('http = "127.0.0.1:0"', f'http = "127.0.0.1:{port}"'))
        node.sql("CREATE TABLE done (item)")
        node.init().start()
        self.addCleanup(node.kill)
        return node

    def test_what_is_stuck_is_seen_in_one_look_with_why_and_since_when(self):
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

    def test_it_is_found_and_cured_in_a_few_clicks(self):
        self.stock.sql("CREATE TABLE shipped (item TEXT)")
        page = self.start_browsing("cure")
        said = []
        for line in page.stdout:
            if line.startswith("mend "):
                self.mend(line.split()[1])
                page.stdin.write("done\n")
                page.stdin.flush()
            else:
                said.append(line)
        self.assertEqual(page.wait(), 0, "".join(said))
        for node, asked, number in [(self.billing, "done", 5), (self.vault, "done", 3), (self.bank, "done", 3),
                                    (self.stock, "shipped", 3),
                                    (self.stock, "counted", 2)]:
            self.comes_to(node, number, f"SELECT count(*) FROM {asked}")
        self.comes_to(self.orders, 0, "SELECT count(*) FROM outbox_messages WHERE status IN"
                      " ('Pending', 'Dead', 'Expired')")

    def test_keys_alone_on_a_phone_in_the_dark_do_as_well(self):
        self.browse("keyboard")

    def test_each_reason_leads_to_its_cure(self):
        self.browse("advice")

    def test_what_a_page_is_for_is_asked_for_first(self):
        self.browse("first")


if __name__ == "__main__":
    unittest.main()
