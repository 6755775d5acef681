#!/usr/bin/env python3
"""The desk in Debian's Chromium, against real nodes with real traffic.

    desk_test.py PROGRAM NODE_MODULES [CASE...]
    desk_test.py PROGRAM NODE_MODULES --screenshots FOLDER
"""

import itertools
import json
import math
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))
from node import Node, eventually, new_folder

PROGRAM, MODULES = sys.argv.pop(1), sys.argv.pop(1)
SECRET = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
MARKUP = "<img src=x onerror=document.title='run'>"


def admin_key(name, *options):
    made = subprocess.run([PROGRAM, "keys", "admin", "new", "--name", name, *options, "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


class Desk(unittest.TestCase):
    """`orders` sends to `stock`, which refuses some; to `billing`, which is down; and to `crm`, which
    has no route. Its desk asks for a key; that of `stock`, on loopback without keys, lets look."""

    @classmethod
    def setUpClass(cls):
        folder = new_folder()
        cls.operator = admin_key("night-shift", "--role", "operator", "--payloads")
        cls.viewer = admin_key("wall", "--role", "viewer")
        keys = ", ".join(f'{{ name = "{name}", role = "{role}", hash = "{key["hash"]}", payloads = {payloads} }}'
                         for name, role, key, payloads in
                         [("night-shift", "operator", cls.operator, "true"), ("wall", "viewer", cls.viewer, "false")])
        cls.stock = Node(PROGRAM, "stock", f'[secrets]\norders = "{SECRET}"\n'
                         '[handlers]\nReserve = "sql:INSERT INTO reserved VALUES (:item, :count)"\n'
                         'Ship = "sql:INSERT INTO shipped VALUES (:item)"\n', folder)
        cls.stock.sql("CREATE TABLE reserved (item TEXT, count INTEGER CHECK (count > 0))")
        cls.stock.init().start()
        cls.orders = Node(PROGRAM, "orders", f'[secrets]\nstock = "{SECRET}"\nbilling = "{SECRET}"\n'
                          f'[routes]\nstock = "http://127.0.0.1:{cls.stock.port}"\nbilling = "http://127.0.0.1:1"\n'
                          '[outbox]\nmax_retries = 1\nretry_delay_base = "10ms"\n'
                          f"[admin]\nkeys = [{keys}]\n", folder)
        cls.orders.init().start()
        cls.addClassCleanup(cls.stock.stop)
        cls.addClassCleanup(cls.orders.stop)
        for i in range(40):
            cls.send("stock", "Reserve", {"item": "nail", "count": i + 1})
        for i in range(3):
            cls.send("stock", "Reserve", {"item": MARKUP, "count": -1})
        for i in range(12):
            cls.send("stock", "Ship", {"item": f"crate {i}"})
        for i in range(7):
            cls.send("billing", "Charge", {"order": i})
        cls.send("crm", MARKUP, {"customer": MARKUP})
        count = "SELECT count(*) FROM outbox_messages WHERE status = ?"
        assert eventually(lambda: cls.orders.number(count, "Sent") == 40)
        assert eventually(lambda: cls.orders.number(count, "Dead") == 15), cls.orders.log_text()

    @classmethod
    def send(cls, destination, endpoint, payload):
        cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES (?, ?, ?)",
                       destination, endpoint, json.dumps(payload))

    def browse(self, case, **more):
        told = {"orders": f"http://127.0.0.1:{self.orders.admin}", "stock": f"http://127.0.0.1:{self.stock.admin}",
                "operator": self.operator["key"], "viewer": self.viewer["key"], "markup": MARKUP, **more}
        done = subprocess.run(["node", Path(__file__).with_name("desk.js"), case, json.dumps(told)],
                              capture_output=True, text=True, env=os.environ | {"NODE_PATH": MODULES})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def dead(self, endpoint):
        return self.orders.number("SELECT count(*) FROM outbox_messages WHERE status = 'Dead' AND endpoint = ?",
                                  endpoint)

    def test_1_every_page_loads_without_a_word_on_the_console(self):
        self.browse("pages")

    def test_2_a_page_without_a_key_shows_nothing_and_takes_one(self):
        self.browse("keys")

    def test_3_markup_of_strangers_is_text(self):
        self.browse("markup")

    def test_4_keys_walk_the_lists(self):
        self.browse("keyboard")

    def test_5_a_destination_is_paused_resumed_and_tried(self):
        self.browse("pause")

    def test_6_a_dead_letter_is_edited_and_arrives(self):
        before = self.stock.number("SELECT count(*) FROM reserved WHERE item = 'mended'")
        self.assertEqual((before, self.dead("Reserve")), (0, 3))
        self.browse("edit")
        self.assertTrue(eventually(
            lambda: self.stock.number("SELECT count(*) FROM reserved WHERE item = 'mended'") == 1))
        self.assertEqual(self.dead("Reserve"), 2)

    def test_7_a_dead_letter_is_resolved_with_a_reason(self):
        self.browse("resolve")
        self.assertEqual(self.orders.sql("SELECT resolution FROM outbox_messages WHERE status = 'Resolved'"),
                         [("counted by hand",)])

    def test_8_dead_letters_of_a_cause_are_requeued_and_arrive(self):
        self.assertEqual(self.dead("Ship"), 12)
        self.stock.sql("CREATE TABLE shipped (item TEXT)")
        self.browse("requeue")
        self.assertTrue(eventually(lambda: self.stock.number("SELECT count(*) FROM shipped") == 12))
        self.assertEqual(self.dead("Ship"), 0)

    def test_9_charts_show_what_the_node_did_and_let_nothing_jump(self):
        self.browse("history")

    def test_9_the_page_is_told_how_the_node_is_and_asks_where_it_is_not(self):
        self.browse("live")


def keep_sending(ended):
    """Traffic for the pictures, in waves."""
    for i in itertools.count():
        if ended.wait(0.02 + 0.015 * math.sin(i / 40)):
            return
        Desk.send("stock", "Reserve", {"item": "nail", "count": 1})


if __name__ == "__main__":
    if "--screenshots" in sys.argv:
        Desk.setUpClass()
        ended = threading.Event()
        traffic = threading.Thread(target=keep_sending, args=(ended,))
        traffic.start()
        try:
            Desk("browse").browse("screenshots", folder=str(Path(sys.argv[-1]).resolve()))
        finally:
            ended.set()
            traffic.join()
            Desk.doClassCleanups()
    else:
        unittest.main()
