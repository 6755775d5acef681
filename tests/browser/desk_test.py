#!/usr/bin/env python3
"""The desk in Debian's Chromium, against real nodes with real traffic.

    desk_test.py PROGRAM NODE_MODULES [CASE...]
"""

import http.server
import json
import os
import signal
import sqlite3
import subprocess
import threading
import unittest
import urllib.request
from pathlib import Path

from desk_case import MARKUP, PROGRAM, DeskCase, admin_key
from node import Node, eventually, new_folder

SECRET = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
HOSTILE_NAME = "it's \"quoted\" \\ $(touch pwned) `touch pwned`; -- ' ??= é 😀"
HOSTILE = ("it's \"quoted\" \\ \\n $(touch pwned) `touch pwned`; DROP TABLE outbox_messages; -- '; \n\r\t\x01\x7f"
           " ??= )\" R\"( é 😀 \u202e\u2028 %s {} </script>")


class Refusing(http.server.BaseHTTPRequestHandler):
    """A web service that takes nothing."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(422)
        self.end_headers()
        self.wfile.write(f"no label for {MARKUP}".encode())

    def log_message(self, *_):
        pass


class Desk(DeskCase):
    """`orders` sends to `stock`, which refuses some; to `billing`, which is down; and to `crm`, which
    has no route. `shop` sends it jobs, of which a worker gives one up. Its desk asks for a key; that of
    `stock`, on loopback without keys, lets look."""

    SCRIPT = "desk.js"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = new_folder()
        cls.operator = admin_key("night-shift", "--role", "operator", "--payloads")
        cls.viewer = admin_key("wall", "--role", "viewer")
        cls.guest = admin_key("guest", "--role", "viewer")
        keys = ", ".join(f'{{ name = "{name}", role = "{role}", hash = "{key["hash"]}", payloads = {payloads}, '
                         f'made = "{key["made"]}" }}' for name, role, key, payloads in
                         [("night-shift", "operator", cls.operator, "true"), ("wall", "viewer", cls.viewer, "false"),
                          ("guest", "viewer", cls.guest, "false")])
        cls.stock = Node(PROGRAM, "stock", f'[secrets]\norders = "{SECRET}"\n'
                         '[handlers]\nReserve = "sql:INSERT INTO reserved VALUES (:item, :count)"\n'
                         'Count = "sql:INSERT INTO reserved VALUES (:item, :count)"\n'
                         'Ship = "sql:INSERT INTO shipped VALUES (:item)"\n', folder)
        cls.stock.sql("CREATE TABLE reserved (item TEXT, count INTEGER CHECK (count > 0))")
        cls.stock.init().start()
        labels = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
        threading.Thread(target=labels.serve_forever).start()
        cls.addClassCleanup(labels.server_close)
        cls.addClassCleanup(labels.shutdown)
        cls.orders = Node(PROGRAM, "orders", f'[secrets]\nstock = "{SECRET}"\nbilling = "{SECRET}"\nshop = "{SECRET}"\n'
                          '[handlers]\nPack = "queue"\n'
                          f'Label = "http://127.0.0.1:{labels.server_port}/label"\n'
                          f'[routes]\nstock = "http://127.0.0.1:{cls.stock.port}"\nbilling = "http://127.0.0.1:1"\n'
                          '[outbox]\nmax_retries = 1\nretry_delay_base = "10ms"\n'
                          f"[admin]\nkeys = [{keys}]\n", folder)
        cls.orders.init().start()
        cls.addClassCleanup(cls.stock.stop)
        cls.addClassCleanup(cls.orders.stop)
        cls.shop = Node(PROGRAM, "shop", f'[secrets]\norders = "{SECRET}"\n'
                        f'[routes]\norders = "http://127.0.0.1:{cls.orders.port}"\n', folder)
        cls.shop.init().start()
        cls.addClassCleanup(cls.shop.stop)
        for i in range(40):
            cls.send("stock", "Reserve", {"item": "nail", "count": i + 1})
        for i in range(3):
            cls.send("stock", "Reserve", {"item": MARKUP, "count": -1})
        for count in [-1, 1, 2]:
            cls.send("stock", "Count", {"item": "shelf", "count": count}, order_key="aisle 7")
        for i in range(12):
            cls.send("stock", "Ship", {"item": f"crate {i}"})
        for i in range(7):
            cls.send("billing", "Charge", {"order": i})
        for _ in range(2):
            cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload, correlation_id, order_key)"
                           " VALUES ('stock', 'Reserve', '{\"item\": \"nail\", \"count\": 1}', 'visit 7',"
                           " 'nail-shelf')")
        cls.send("crm", MARKUP, {"customer": MARKUP})
        cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload, content_type, order_key)"
                       " VALUES ('archive', ?, ?, 'text/plain', ?)", HOSTILE_NAME, HOSTILE, HOSTILE_NAME)
        for i, (key, kind) in enumerate([("customer 1", "Signal"), ("customer 1", "Signal"), ("customer 2", "Command")]):
            cls.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key, message_type)"
                         " VALUES ('orders', 'Pack', ?, ?, ?)", json.dumps({"gift": MARKUP}), key, kind)
            assert eventually(lambda: cls.orders.number("SELECT count(*) FROM posthorn_queue") == i + 1)
        cls.shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('orders', 'Label', '{}')")
        cls.work("Pack/take", {"owner": MARKUP, "limit": 1})
        cls.work("release", {"owner": MARKUP, "seqs": [1], "giveUp": True, "error": MARKUP})
        count = "SELECT count(*) FROM outbox_messages WHERE status = ?"
        assert eventually(lambda: cls.orders.number(count, "Sent") == 42)
        assert eventually(lambda: cls.orders.number(count, "Dead") == 16), cls.orders.log_text()

    @classmethod
    def send(cls, destination, endpoint, payload, order_key=None):
        cls.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key) VALUES (?, ?, ?, ?)",
                       destination, endpoint, json.dumps(payload), order_key)

    @classmethod
    def work(cls, verb, body):
        """What a worker of a queue asks for."""
        request = urllib.request.Request(f"http://127.0.0.1:{cls.orders.admin}/_rf/queue/{verb}",
                                         json.dumps(body).encode(),
                                         {"Authorization": f"Bearer {cls.operator['key']}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def browse(self, case, answer=None, **more):
        self.run_case(case, {"orders": f"http://127.0.0.1:{self.orders.admin}",
                             "stock": f"http://127.0.0.1:{self.stock.admin}", "operator": self.operator["key"],
                             "viewer": self.viewer["key"], "guest": self.guest["key"], "markup": MARKUP, **more}, answer)

    def dead(self, endpoint):
        return self.orders.number("SELECT count(*) FROM outbox_messages WHERE status = 'Dead' AND endpoint = ?",
                                  endpoint)

    def test_1_every_page_loads_without_a_word_on_the_console(self):
        self.browse("pages")

    def test_1b_a_dark_page_on_a_phone_is_so_from_its_first_moment(self):
        self.browse("first_look")

    def test_2_a_page_without_a_key_shows_nothing_and_takes_one(self):
        self.browse("keys")

    def test_3_markup_of_strangers_is_text(self):
        self.browse("markup")

    def test_4_keys_walk_the_lists(self):
        self.browse("keyboard")

    def test_4c_the_audit_is_narrowed_and_saved(self):
        self.browse("audit")

    def test_4d_keys_and_store_show_what_is_kept_and_no_secret(self):
        self.browse("kept", secret=SECRET.removeprefix("base64:"), hash=self.operator["hash"])

    def test_4b_a_page_is_shown_only_by_a_node_that_has_its_feature(self):
        self.browse("seam")

    def test_4f_a_strangers_megabyte_is_shown_as_text(self):
        payloads = {"Big": MARKUP * 25000, "Deep": "[" * 20000 + "]" * 20000, "Deeper": "[" * 300000 + "]" * 300000}
        for endpoint, payload in payloads.items():
            self.orders.sql("INSERT INTO outbox_messages (destination, endpoint, payload, last_error, tenant)"
                            " VALUES ('attic', ?, ?, ?, ?)", endpoint, payload, payload, MARKUP * 6)
        sizes = {endpoint: len("".join(payload.split())) for endpoint, payload in payloads.items()}
        self.browse("hostile", sizes=sizes)

    def test_4g_other_nodes_are_shown_and_searched_and_one_that_is_gone_is_named(self):
        # It has a message of the same order key, and no route for it.
        hall = Node(PROGRAM, "hall", '[desk]\nnodes_every = "200ms"\nnodes = ['
                    f'{{ name = "orders", url = "http://127.0.0.1:{self.orders.admin}", key = "env:ORDERS_KEY" }}, '
                    f'{{ name = "stock", url = "http://127.0.0.1:{self.stock.admin}" }}, '
                    '{ name = "attic", url = "http://127.0.0.1:1" }]\n',
                    environment={"ORDERS_KEY": self.viewer["key"]}).init().start()
        self.addCleanup(hall.stop)
        [[shipped]] = self.orders.sql("SELECT message_id FROM outbox_messages WHERE endpoint = 'Ship' AND status = 'Sent'"
                                      " ORDER BY seq LIMIT 1")
        [[own]] = hall.sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key, causation_id)"
                           " VALUES ('stock', 'Reserve', '{}', 'nail-shelf', ?) RETURNING message_id", shipped)
        [[crm]] = self.orders.sql("SELECT message_id FROM outbox_messages WHERE destination = 'crm'")
        self.browse("nodes", hall=f"http://127.0.0.1:{hall.admin}", crm=crm, shipped=shipped, own=own,
                    packed=self.shop.sql("SELECT message_id FROM outbox_messages WHERE endpoint = 'Pack' LIMIT 1")[0][0])

    def test_4h_a_page_learns_of_a_change_from_the_node_and_asks_little_meanwhile(self):
        [[dead]] = self.orders.sql("SELECT message_id FROM outbox_messages WHERE endpoint = 'Reserve' AND status = 'Dead'"
                                   " ORDER BY seq LIMIT 1")
        self.browse("changes", dead=dead)
        self.browse("idle", dead=dead)

    def test_4i_a_node_that_stops_is_said_to_be_away_and_comes_back_by_itself(self):
        lone = Node(PROGRAM, "lone", "").init().start()
        self.addCleanup(lone.stop)
        # It keeps its address when it comes back.
        lone.write(lone.file.read_text().replace('admin = "127.0.0.1:0"', f'admin = "127.0.0.1:{lone.admin}"'))

        def send():
            lone.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('nowhere', 'A', '{}')")

        def turn(said):
            if said == "stop":
                lone.stop()
            else:
                send()
                lone.start()

        send()
        send()
        self.browse("away", turn, lone=f"http://127.0.0.1:{lone.admin}")

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

    def test_7b_a_dead_letter_is_discarded_and_taken_back(self):
        resolved = "SELECT count(*) FROM outbox_messages WHERE status = 'Resolved'"
        before = (self.dead("Reserve"), self.orders.number(resolved))
        self.browse("discard", number=before[0])
        self.assertEqual((self.dead("Reserve"), self.orders.number(resolved)), before)

    def test_4e_what_a_web_service_refused_is_shown_to_those_who_may_read_payloads(self):
        refused = "SELECT count(*) FROM outbox_messages WHERE endpoint = 'Label' AND status = 'Dead'"
        self.assertTrue(eventually(lambda: self.shop.number(refused) == 1))
        self.browse("refused")

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


    def test_9_a_key_that_is_taken_back_ends_its_session_with_words(self):
        def take_back(_):
            self.orders.write(self.orders.file.read_text().replace(self.guest["hash"], "sha256:" + "0" * 64))
            self.orders.process.send_signal(signal.SIGHUP)

        self.browse("revoked", take_back)

    def test_8b_what_is_parked_behind_a_dead_letter_goes_when_that_is_resolved(self):
        arrived = "SELECT count(*) FROM reserved WHERE item = 'shelf'"
        self.assertEqual(self.stock.number(arrived), 0)
        self.browse("parked")
        self.assertTrue(eventually(lambda: self.stock.number(arrived) == 2))

    def test_9_a_job_that_was_given_up_is_retried_and_those_behind_it_follow(self):
        self.browse("queues")
        self.assertEqual([each["seq"] for each in self.work("Pack/take", {"owner": "w", "limit": 9})["messages"]],
                         [1, 2])

    def test_9b_causes_and_effects_lead_to_each_other(self):
        self.browse("links")

    def test_9c_a_message_is_copied_as_what_it_is_whatever_it_says(self):
        copied = Path(new_folder()) / "copied.json"
        self.browse("copies", file=str(copied), hostile=HOSTILE)
        texts = json.loads(copied.read_text())
        with sqlite3.connect(":memory:") as db:
            db.execute("CREATE TABLE outbox_messages (message_type, destination, endpoint, payload, content_type,"
                       " order_key)")
            db.executescript(texts["sql"])
            self.assertEqual(db.execute("SELECT * FROM outbox_messages").fetchall(),
                             [("Signal", "archive", HOSTILE_NAME, HOSTILE, "text/plain", HOSTILE_NAME)])
        told = subprocess.run(["bash", "-c", texts["curl"]], check=True, capture_output=True, cwd=copied.parent,
                              env=os.environ | {"POSTHORN_KEY": self.operator["key"]})
        self.assertEqual(json.loads(told.stdout)["payload"], HOSTILE)
        self.assertEqual([each.name for each in copied.parent.iterdir()], ["copied.json"])

        # It compiles as it is, and the payload in it is the payload.
        root = Path(__file__).parents[2]
        test = copied.with_name("copied.cpp")
        test.write_text(texts["test"])
        compiler = ["clang++-19", "-std=c++23", f"-I{root}/include", f"-I{Path(PROGRAM).resolve().parents[1]}/include"]
        subprocess.run([*compiler, "-fsyntax-only", test], check=True)
        [line] = [each for each in texts["test"].splitlines() if "std::string payload(" in each]
        test.write_text(f"#include <cstdio>\n#include <string>\nint main() {{ {line}"
                        " std::fwrite(payload.data(), 1, payload.size(), stdout); }\n")
        subprocess.run([*compiler, test, "-o", test.with_suffix("")], check=True)
        self.assertEqual(subprocess.run([test.with_suffix("")], check=True, capture_output=True).stdout,
                         HOSTILE.encode())


if __name__ == "__main__":
    unittest.main()
