#!/usr/bin/env python3
"""The ten failure scenarios between two processes, each a real node: killed, cut off, expired.

scenarios_test.py PROGRAM [Scenarios.test_…]
"""

import base64
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import unittest

from node import Node, eventually
from proxy import Proxy, drop, forward

PROGRAM = sys.argv.pop(1)
SECRET = base64.b64encode(os.urandom(32)).decode()
SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rounds})"


class Scenarios(unittest.TestCase):
    def setUp(self):
        self.stock = Node(PROGRAM, "stock", f"""
[secrets]
shop = "base64:{SECRET}"
[handlers]
Ordered = "sql:INSERT INTO effects VALUES (:id)"
Slow = "sql:INSERT INTO effects VALUES (:id); {SLOW.format(rounds=1500000)} UPDATE effects SET id = id + 0 * (SELECT max(i) FROM n)"
""").init()
        self.stock.sql("CREATE TABLE effects (id INTEGER)")
        self.stock.start()
        self.proxy = Proxy(self.stock.port)
        self.shop = Node(PROGRAM, "shop", f"""
[routes]
stock = {{ url = "http://127.0.0.1:{self.proxy.port}", timeout = "4s" }}
[secrets]
stock = "base64:{SECRET}"
[outbox]
max_retries = 100
retry_delay_base = "50ms"
retry_delay_max = "200ms"
jitter_max = "10ms"
""").init()
        self.shop.sql("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        self.shop.start()

    def tearDown(self):
        for node in (self.shop, self.stock):
            if node.process.poll() is None:
                node.kill()
        self.proxy.close()

    def restart_stock(self):
        self.stock.start()
        self.proxy.target = self.stock.port

    def order(self, number, endpoint="Ordered", more="", values=""):
        with sqlite3.connect(self.shop.database, timeout=120) as db:
            db.execute("INSERT INTO orders VALUES (?)", (number,))
            db.execute("INSERT INTO outbox_messages (destination, endpoint, payload" + more + ")"
                       " VALUES ('stock', ?, json_object('id', ?)" + values + ")",
                       (endpoint, number))

    def effects(self):
        return [row[0] for row in self.stock.sql("SELECT id FROM effects ORDER BY id")]

    def becomes(self, status):
        seen = lambda: {row[0] for row in self.shop.sql("SELECT status FROM outbox_messages")}
        self.assertTrue(eventually(lambda: seen() == {status}), seen())

    def arrives_once(self, *numbers):
        self.becomes("Sent")
        self.assertEqual(self.effects(), sorted(numbers))

    def test_01_the_sender_dies_before_the_outbox_write_commits(self):
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent("""
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=120)
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO orders VALUES (1)")
            db.execute("INSERT INTO outbox_messages (destination, endpoint, payload)"
                       " VALUES ('stock', 'Ordered', '{\\"id\\":1}')")
            print("written", flush=True)
            sys.stdin.read()
            """), str(self.shop.database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), b"written\n")
        child.kill()
        child.communicate()
        self.order(2)  # What comes later is not held up.
        self.arrives_once(2)
        self.assertEqual(self.shop.sql("SELECT id FROM orders"), [(2,)])

    def test_02_the_sender_dies_after_the_outbox_write_before_the_send(self):
        self.proxy.rule = drop
        self.order(1)
        self.shop.kill()
        self.assertEqual(self.effects(), [])
        self.proxy.rule = forward
        self.shop.start()
        self.arrives_once(1)

    def test_03_the_network_fails_during_the_send(self):
        self.proxy.rule = drop
        self.order(1)
        again = "SELECT count(*) FROM outbox_messages JOIN outbox_attempts USING (seq) WHERE last_attempt_at > at"
        self.assertTrue(eventually(lambda: self.shop.number(again) == 1))
        self.proxy.rule = forward
        self.arrives_once(1)

    def test_04_the_receiver_dies_before_it_processes(self):
        def kill_first(proxy, client, request):
            self.stock.kill()
            proxy.rule = drop
        self.proxy.rule = kill_first
        self.order(1)
        self.assertTrue(eventually(lambda: self.stock.process.poll() is not None))
        self.proxy.rule = forward
        self.restart_stock()
        self.arrives_once(1)

    def test_05_the_receiver_dies_after_processing_before_its_commit(self):
        def is_at_work():
            with sqlite3.connect(self.stock.database, timeout=0, isolation_level=None) as db:
                try:
                    db.execute("BEGIN IMMEDIATE")
                    db.execute("ROLLBACK")
                    return False
                except sqlite3.OperationalError:
                    return True
        self.order(1, "Slow")
        self.assertTrue(eventually(is_at_work))
        self.stock.kill()
        self.assertEqual(self.effects(), [])
        self.restart_stock()
        self.arrives_once(1)

    def test_06_the_acknowledgement_is_lost(self):
        self.lost = 0
        def lose_two(_):
            self.lost += 1
            return self.lost > 2
        self.proxy.pass_answer = lose_two
        self.order(1)
        self.arrives_once(1)
        self.assertGreaterEqual(self.lost, 3)
        self.assertEqual(self.shop.number("SELECT retry_count FROM outbox_messages"), 0)

    def test_07_the_sender_runs_out_of_patience_after_the_receiver_processed(self):
        patience = threading.Event()
        self.answers = 0
        def hold_first(_):
            self.answers += 1
            if self.answers == 1:
                patience.wait(60)
                return False
            return True
        self.proxy.pass_answer = hold_first
        self.order(1)
        self.arrives_once(1)
        patience.set()
        self.assertEqual(self.shop.number("SELECT retry_count FROM outbox_messages"), 0)

    def test_08_a_message_expires_before_it_is_delivered(self):
        self.proxy.rule = drop
        self.order(1, more=", expires_at",
                   values=", (CAST(strftime('%s', 'now') AS INTEGER) + 2) * 1000")
        self.becomes("Expired")
        self.proxy.rule = forward
        self.order(2)
        gone = lambda: self.effects() == [2]
        self.assertTrue(eventually(gone), self.effects())

    def test_09_sender_and_receiver_die_together(self):
        self.proxy.rule = drop
        for number in range(20):
            self.order(number)
        self.proxy.rule = forward  # Some are on their way now, some not.
        self.stock.process.kill()
        self.shop.process.kill()
        self.stock.kill()
        self.shop.kill()
        self.restart_stock()
        self.shop.start()
        self.arrives_once(*range(20))

    def test_10_a_corrupt_file_is_refused_and_nothing_is_made_up(self):
        self.order(1)
        self.arrives_once(1)
        self.shop.stop()
        with open(self.shop.database, "r+b") as file:
            size = os.path.getsize(self.shop.database)
            for page in range(1, size // 4096):
                file.seek(page * 4096)
                file.write(b"\xa5" * 64)
        ran = subprocess.run([PROGRAM, "serve", "--config", self.shop.file], capture_output=True,
                             text=True, timeout=240, env=self.shop.environment)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("restore a backup", ran.stderr)
        self.assertEqual(self.effects(), [1])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    unittest.main(verbosity=2)
