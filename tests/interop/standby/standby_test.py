#!/usr/bin/env python3
"""A primary, its standby, and who takes over: real processes, of which the primary is killed.

standby_test.py PROGRAM
"""

import json
import re
import signal
import socket
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import Node, eventually, new_folder

PROGRAM = sys.argv.pop(1)
KEY = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
QUICK = '[outbox]\nretry_delay_base = "20ms"\njitter_max = "0s"\nrequest_timeout = "5s"\n'


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


class Follower:
    """`posthorn standby follow`."""

    def __init__(self, file):
        self.log = open(Path(file).with_suffix(".follow.log"), "ab")
        self.process = subprocess.Popen([PROGRAM, "standby", "follow", "--config", file],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        ports = []
        for _ in range(2):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"it ended: {Path(self.log.name).read_text()}")
            ports += [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", line)]
        self.port, self.admin = ports

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=120) as answer:
            return answer.read().decode()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self):
        code = self.process.wait(30)
        self.process.stdout.close()
        self.log.close()
        return code


class Standby(unittest.TestCase):
    def setUp(self):
        self.folder = Path(new_folder())
        self.key = self.folder / "pair.key"
        self.key.write_text(KEY + "\n")
        self.key.chmod(0o600)
        self.links = free_port()

    def node(self, place, standby, rest=""):
        """The service `orders` on one of two machines, which are folders here."""
        folder = self.folder / place
        folder.mkdir(exist_ok=True)
        return Node(PROGRAM, "orders", f'[standby]\nkey = "file:{self.key}"\n{standby}'
                    f'[secrets]\nshop = "{KEY}"\n[routes]\nshop = "http://127.0.0.1:9"\n'
                    f'[handlers]\nOrdered = "sql:INSERT INTO taken VALUES (:n)"\n{QUICK}{rest}', folder=folder)

    def primary(self, mode=""):
        node = self.node("one", f'to = "127.0.0.1:{self.links}"\npatience = "20s"\n{mode}')
        node.sql("CREATE TABLE IF NOT EXISTS taken (n INTEGER)")
        return node

    def other(self):
        return self.node("two", f'listen = "127.0.0.1:{self.links}"\n')

    def follow(self, node):
        follower = Follower(node.file)
        self.addCleanup(lambda: follower.process.poll() is None and follower.kill())
        return follower

    def start(self, node):
        node.start()
        self.addCleanup(lambda: node.process.poll() is None and node.kill())
        return node

    def state(self, node):
        return node.get_json("/_rf/standby")["state"]

    def follows(self, node):
        self.assertTrue(eventually(lambda: self.state(node) == "following"), node.log_text())

    def test_takes_over_from_a_killed_primary_with_all_that_was_answered_once(self):
        primary, other = self.primary(), self.other()
        follower = self.follow(other)
        self.start(primary)
        self.follows(primary)
        shop = Node(PROGRAM, "shop", f'[secrets]\norders = "{KEY}"\n'
                    f'[routes]\norders = "http://127.0.0.1:{primary.port}"\n{QUICK}')
        self.start(shop)

        def send(count):
            for _ in range(count):
                send.last += 1
                shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('orders', 'Ordered', ?)",
                         json.dumps({"n": send.last}))
        send.last = 0
        while shop.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") < 100:
            send(20)
        send(50)
        primary.kill()  # Some of these are on their way.
        send(10)
        answered = shop.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'")
        self.assertGreaterEqual(answered, 100)
        self.assertLess(answered, send.last)
        self.assertEqual(follower.stop(), 0)

        told = run("standby", "promote", "--config", other.file)
        self.assertEqual(told.returncode, 2)
        self.assertIn("would lose nothing that was answered", told.stderr)
        done = run("standby", "promote", "--config", other.file, "--yes", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["epoch"], 2)
        # All that the shop was told is taken was taken here too, before it sends anything again.
        self.assertGreaterEqual(other.number("SELECT count(*) FROM taken"), answered)

        other.write(self.other().file.read_text().replace('http = "127.0.0.1:0"',
                                                          f'http = "127.0.0.1:{primary.port}"'))
        self.start(other)
        self.assertTrue(eventually(lambda: shop.number(
            "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'") == send.last), other.log_text())
        self.assertEqual(other.number("SELECT count(*) FROM taken"), send.last)
        self.assertEqual(other.number("SELECT count(DISTINCT n) FROM taken"), send.last)
        self.assertEqual(other.sql("PRAGMA integrity_check"), [("ok",)])

    def test_is_told_of_by_both_ends(self):
        primary, other = self.primary(), self.other()
        follower = self.follow(other)
        self.assertEqual(json.loads(follower.get("/_rf/health"))["status"], "yellow")  # Without a primary.
        self.start(primary)
        self.follows(primary)
        seen = primary.get_json("/_rf/standby")
        self.assertEqual((seen["role"], seen["mode"], seen["epoch"]), ("primary", "sync", 1))
        self.assertEqual(seen["lostByPromotion"], "nothing that was answered")
        self.assertIn('posthorn_standby_state{state="following"} 1', primary.get("/metrics"))
        status = run("standby", "status", "--url", f"http://127.0.0.1:{primary.admin}", "--json")
        self.assertEqual(json.loads(status.stdout)["state"], "following")

        self.assertEqual(json.loads(follower.get("/_rf/health"))["status"], "green")
        self.assertIn("posthorn_standby_has_primary 1", follower.get("/metrics"))
        status = run("standby", "status", "--url", f"http://127.0.0.1:{follower.admin}")
        self.assertIn("a promotion now would lose  nothing that was answered", status.stdout)
        status = run("standby", "status", "--config", other.file, "--json")
        self.assertEqual(json.loads(status.stdout)["phase"], "following")
        self.assertEqual(json.loads(status.stdout)["stream"], seen["stream"])

        follower.kill()
        self.assertTrue(eventually(lambda: primary.get_json("/_rf/standby")["state"] == "away"))
        # What health says is gathered about once a second.
        told = lambda: run("health", "--url", f"http://127.0.0.1:{primary.admin}")
        self.assertTrue(eventually(lambda: "nothing is taken in or sent without it" in told().stdout))
        self.assertEqual(told().returncode, 1)
        # It goes on where it was.
        follower = self.follow(other)
        self.follows(primary)
        self.assertEqual(primary.stop(), 0)
        self.assertEqual(follower.stop(), 0)

    def test_is_no_database_for_anything_else_until_it_is_promoted(self):
        primary, other = self.primary(), self.other()
        follower = self.follow(other)
        self.start(primary)
        self.follows(primary)
        self.assertEqual(primary.stop(), 0)
        busy = run("standby", "promote", "--config", other.file, "--yes")
        self.assertIn("another process keeps the standby", busy.stderr)
        self.assertEqual(follower.stop(), 0)
        for words in (["serve"], ["outbox", "list"], ["init"]):
            refused = run(*words, "--config", other.file)
            self.assertNotEqual(refused.returncode, 0, words)
            self.assertIn("is a standby's copy", refused.stderr, words)
        self.assertIn("is a primary's", run("standby", "follow", "--config", primary.file).stderr + run(
            "standby", "follow", "--config", self.node("one", 'listen = "127.0.0.1:0"\n').file).stderr)

    def test_that_lags_is_promoted_only_where_a_loss_is_accepted(self):
        primary, other = self.primary('mode = "async"\n'), self.other()
        follower = self.follow(other)
        self.start(primary)
        self.follows(primary)
        self.assertEqual(primary.stop(), 0)
        self.assertEqual(follower.stop(), 0)
        refused = run("standby", "promote", "--config", other.file, "--yes")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--accept-loss", refused.stderr)
        done = run("standby", "promote", "--config", other.file, "--yes", "--accept-loss")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_is_refused_where_there_can_be_none(self):
        def problem(text):
            node = self.node("one", text)
            checked = run("config", "check", "--config", node.file)
            self.assertEqual(checked.returncode, 2)
            return checked.stdout + checked.stderr
        self.assertIn("standby.plain_text", problem('to = "10.0.0.2:7402"\n'))
        self.assertIn("standby.mode cannot be", problem('to = "127.0.0.1:7402"\nmode = "fast"\n'))
        node = self.node("one", 'to = "127.0.0.1:7402"\n')
        node.write(node.file.read_text().replace(f"sqlite:{node.database}", "postgresql://nobody@127.0.0.1:1/none"))
        checked = run("config", "check", "--config", node.file)
        self.assertIn("a PostgreSQL server has its own", checked.stdout + checked.stderr)
        refused = run("serve", "--config", node.file)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a PostgreSQL server has its own", refused.stderr)


if __name__ == "__main__":
    unittest.main()
