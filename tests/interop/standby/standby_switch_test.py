#!/usr/bin/env python3
"""Primary and standby change their roles, are killed at it, part ways and come together again: real
processes.

standby_switch_test.py PROGRAM
"""

import contextlib
import hashlib
import json
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from node import Node, eventually, new_folder

PROGRAM = sys.argv.pop(1)
KEY = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OPERATOR = "phk_pair-operator"
QUICK = ('[outbox]\nretry_delay_base = "20ms"\nretry_delay_max = "200ms"\njitter_max = "0s"\n'
         'request_timeout = "5s"\nmax_retries = 100000\n')


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for each in taken:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


AS_OPERATOR = os.environ | {"POSTHORN_ADMIN_KEY": OPERATOR}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=AS_OPERATOR)


class Machine:
    """One of a pair, in a folder of its own, with addresses that stay."""

    def __init__(self, folder, ports, other_link, key, rest):
        folder.mkdir()
        self.http, self.admin, self.link = ports
        self.folder, self.file = folder, folder / "orders.toml"
        self.database = folder / "orders.db"
        self.url = f"http://127.0.0.1:{self.admin}"
        self.process = None
        hashed = hashlib.sha256(OPERATOR.encode()).hexdigest()
        self.write(f'[service]\nid = "orders"\n[store]\nurl = "sqlite:{self.database}"\n'
                   f'[listen]\nhttp = "127.0.0.1:{self.http}"\nadmin = "127.0.0.1:{self.admin}"\n'
                   f'[secrets]\nshop = "{KEY}"\n[routes]\nshop = "http://127.0.0.1:9"\n'
                   f'[admin]\nkeys = [{{ name = "ann", role = "operator", hash = "sha256:{hashed}" }}]\n'
                   f'[handlers]\nOrdered = "sql:INSERT INTO taken VALUES (:n)"\n{QUICK}'
                   f'[standby]\nkey = "file:{key}"\nlisten = "127.0.0.1:{self.link}"\n'
                   f'to = "127.0.0.1:{other_link}"\n{rest}')

    def write(self, text):
        self.file.write_text(text)

    def change(self, old, new):
        text = self.file.read_text()
        assert old in text, old
        self.write(text.replace(old, new))

    def start(self, *command, before=None):
        self.log = open(self.folder / "orders.log", "ab")
        self.process = subprocess.Popen([PROGRAM, *command, "--config", self.file], stdout=self.log,
                                        stderr=self.log, preexec_fn=before)
        return self

    def serve(self):
        return self.start("serve")

    def follow(self, before=None):
        return self.start("standby", "follow", before=before)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.is_running():
            self.process.kill()
        return self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        code = self.process.wait(60)
        self.log.close()
        return code

    def log_text(self):
        return (self.folder / "orders.log").read_text()

    def keeps(self, line):
        """Whether that is on its disk now, of its role."""
        return line + "\n" in Path(f"{self.database}-standby").read_text()

    def told(self):
        """What it says of itself; nothing while it does not answer."""
        try:
            asked = urllib.request.Request(f"{self.url}/_rf/standby",
                                           headers={"Authorization": f"Bearer {OPERATOR}"})
            with urllib.request.urlopen(asked, timeout=5) as answer:
                return json.loads(answer.read())
        except (OSError, ValueError):
            return {}

    def sql(self, statement, *values):
        # Closed at once: an open one keeps the old primary from giving its role away.
        with contextlib.closing(sqlite3.connect(self.database, timeout=120)) as db, db:
            return db.execute(statement, values).fetchall()


class StandbySwitch(unittest.TestCase):
    def setUp(self):
        self.folder = Path(new_folder())
        self.key = self.folder / "pair.key"
        self.key.write_text(KEY + "\n")
        self.key.chmod(0o600)

    def pair(self, rest='patience = "20s"\n'):
        ports = free_ports(6)
        one = Machine(self.folder / "one", ports[:3], ports[5], self.key, rest)
        two = Machine(self.folder / "two", ports[3:], ports[2], self.key, rest)
        subprocess.run([PROGRAM, "init", "--config", one.file], check=True, stdout=subprocess.DEVNULL)
        one.sql("CREATE TABLE taken (n INTEGER)")
        for each in (one, two):
            self.addCleanup(lambda each=each: each.is_running() and each.kill())
        return one, two

    def logs(self, *machines):
        return "\n".join(each.log_text() for each in machines)

    def is_in_step(self, leader, follower):
        told, other = leader.told(), follower.told()
        return (told.get("role") == "primary" and told.get("state") == "following"
                and other.get("role") == "standby" and other.get("hasPrimary"))

    def in_step(self, leader, follower):
        self.assertTrue(eventually(lambda: self.is_in_step(leader, follower)), self.logs(leader, follower))

    def shop(self, *machines):
        leads = ",".join(f"http://127.0.0.1:{each.http}" for each in machines)
        shop = Node(PROGRAM, "shop", f'[secrets]\norders = "{KEY}"\n[routes]\norders = "{leads}"\n{QUICK}')
        shop.start()
        self.addCleanup(lambda: shop.process.poll() is None and shop.kill())
        shop.last = 0
        return shop

    def send(self, shop, count):
        for _ in range(count):
            shop.last += 1
            shop.sql("INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('orders', 'Ordered', ?)",
                     json.dumps({"n": shop.last}))

    def all_arrive_once(self, shop, leader):
        sent = "SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"
        self.assertTrue(eventually(lambda: shop.number(sent) == shop.last), shop.log_text() + leader.log_text())
        self.assertEqual(leader.sql("SELECT count(*), count(DISTINCT n) FROM taken"), [(shop.last, shop.last)])
        self.assertEqual(leader.sql("PRAGMA integrity_check"), [("ok",)])

    def test_changes_roles_to_and_fro_under_load_and_neither_loses_nor_repeats(self):
        one, two = self.pair()
        one.serve()
        two.follow()
        self.in_step(one, two)
        shop = self.shop(one, two)
        leader, follower = one, two
        for round in range(4):
            self.send(shop, 20)
            begun = time.monotonic()
            done = run("standby", "switch", "--url", leader.url, "--json")
            print(f"switch {round + 1}: {time.monotonic() - begun:.2f} s", file=sys.stderr)
            self.assertEqual(done.returncode, 0, done.stderr + self.logs(one, two))
            self.assertEqual(json.loads(done.stdout), {"switched": True, "epoch": round + 2})
            leader, follower = follower, leader
            self.in_step(leader, follower)
            self.assertEqual(leader.told()["copies"], 0)
            self.send(shop, 20)
        self.all_arrive_once(shop, leader)
        self.assertEqual(one.stop(), 0)
        self.assertEqual(two.stop(), 0)

    def test_is_had_by_one_alone_though_both_are_killed_in_the_midst_of_it(self):
        one, two = self.pair()
        one.serve()
        two.follow()
        self.in_step(one, two)
        shop = self.shop(one, two)
        leader, follower = one, two
        steps = [lambda: "Stopping, to give the role" in leader.log_text()[heard:],
                 lambda: leader.keeps("phase handing"), lambda: follower.keeps("phase promoted"),
                 lambda: leader.keeps("phase rejoining"), lambda: follower.keeps("role primary")]
        seen = 0
        for round, step in enumerate(step for step in steps for _ in range(3)):
            heard = len(leader.log_text())
            self.send(shop, 5)
            switching = subprocess.Popen([PROGRAM, "standby", "switch", "--url", leader.url],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         env=AS_OPERATOR)
            victims = [(leader,), (follower,), (leader, follower)][round % 3]
            while not (reached := step()) and switching.poll() is None:
                pass  # A look at a time of its own would come too late.
            seen += reached
            for each in victims:
                each.kill()
            switching.kill()
            switching.wait()
            for each in victims:
                each.serve()
            self.assertTrue(eventually(lambda: self.is_in_step(one, two) or self.is_in_step(two, one)),
                            self.logs(one, two))
            leader, follower = (one, two) if one.told().get("role") == "primary" else (two, one)
            self.send(shop, 5)
        self.all_arrive_once(shop, leader)
        self.assertGreater(seen, len(steps), "most were killed before or after the switch")

    def test_is_refused_in_words_where_it_cannot_be(self):
        one, two = self.pair('patience = "1s"\n')
        one.serve()
        self.assertTrue(eventually(lambda: one.told().get("state") == "away"))
        refused = run("standby", "switch", "--url", one.url)
        self.assertIn("does not answer, and nothing is taken without it", refused.stderr)
        two.change(f'to = "127.0.0.1:{one.link}"\n', "")
        two.follow()
        self.assertTrue(eventually(lambda: one.told().get("state") == "following"), self.logs(one, two))
        refused = run("standby", "switch", "--url", one.url)
        self.assertIn("the standby has no standby.to", refused.stderr)
        self.assertIn("say whom to ask", run("standby", "switch").stderr)

    def test_charges_no_message_that_comes_to_a_standby(self):
        one, two = self.pair()
        one.serve()
        two.follow()
        self.in_step(one, two)
        shop = self.shop(two)  # It knows the standby alone.
        self.send(shop, 3)
        self.assertTrue(eventually(lambda: "not_primary" in shop.log_text()), shop.log_text())
        self.assertEqual(shop.sql("SELECT max(retry_count) FROM outbox_messages"), [(0,)])
        done = run("standby", "switch", "--url", one.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.all_arrive_once(shop, two)

    def test_cuts_the_log_of_an_old_primary_and_tells_what_was_behind(self):
        one, two = self.pair('patience = "200ms"\nwhen_lost = "alone"\n')
        one.serve()
        two.follow()
        self.in_step(one, two)
        # A node begins its log anew when it starts. Until the standby has some of that log, it has the
        # end of the one before, where this one cannot be cut.
        begun = one.told()["position"]
        self.assertEqual(run("send", "shop", "Kept", '{"id": 1}', "--config", one.file).returncode, 0)
        self.assertTrue(eventually(lambda: begun < one.told()["position"] == two.told()["position"]),
                        self.logs(one, two))
        two.kill()
        self.assertTrue(eventually(lambda: one.told().get("state") == "away"))
        for endpoint in ("Lost", "LostToo"):
            sent = run("send", "shop", endpoint, '{"id": 1}', "--config", one.file)
            self.assertEqual(sent.returncode, 0, sent.stderr)
        one.kill()
        done = run("standby", "promote", "--config", two.file, "--yes", "--accept-loss")
        self.assertEqual(done.returncode, 0, done.stderr)
        two.serve()
        self.assertTrue(eventually(lambda: two.told().get("role") == "primary"), two.log_text())
        done = run("standby", "rejoin", "--config", one.file, "--primary", two.url, "--yes", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertTrue(told["cut"], told)
        self.assertEqual([each["endpoint"] for each in told["lost"]], ["Lost", "LostToo"])
        self.assertTrue(Path(told["kept"]).exists())
        one.serve()  # It knows that it follows.
        self.in_step(two, one)
        self.assertEqual(two.told()["copies"], 0)

    def test_takes_nothing_in_after_it_was_paused_while_another_took_its_place(self):
        one, two = self.pair('patience = "1s"\n')
        one.serve()
        two.follow()
        self.in_step(one, two)
        one.process.send_signal(signal.SIGSTOP)
        self.addCleanup(lambda: one.is_running() and one.process.send_signal(signal.SIGCONT))
        self.assertEqual(two.stop(), 0)
        done = run("standby", "promote", "--config", two.file, "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        # The one that was promoted has no standby yet, and goes on alone.
        two.change('patience = "1s"', 'patience = "1s"\nwhen_lost = "alone"')
        two.serve()
        self.assertTrue(eventually(lambda: two.told().get("role") == "primary"), two.log_text())
        # The old one goes on where it was, and no standby takes it.
        one.process.send_signal(signal.SIGCONT)
        self.assertTrue(eventually(lambda: not one.is_running() or one.told().get("state") == "away"),
                        one.log_text())
        shop = self.shop(one, two)
        self.send(shop, 5)
        self.all_arrive_once(shop, two)
        self.assertEqual(one.sql("SELECT count(*) FROM taken"), [(0,)])

    def test_that_cannot_write_ends_with_the_reason_and_its_primary_goes_on_alone(self):
        one, two = self.pair('patience = "300ms"\nwhen_lost = "alone"\n')
        one.serve()

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        two.follow(before=small_files)
        self.in_step(one, two)
        one.sql("CREATE TABLE much (b BLOB)")
        for _ in range(40):
            one.sql("INSERT INTO much VALUES (randomblob(100000))")
        self.assertTrue(eventually(lambda: not two.is_running()), two.log_text())
        self.assertNotEqual(two.end(), 0)
        self.assertIn("File too large", two.log_text())
        sent = run("send", "shop", "More", '{"id": 1}', "--config", one.file)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        two.follow()  # With room it comes back, and catches up.
        self.in_step(one, two)
        self.assertEqual(one.stop(), 0)
        self.assertEqual(two.stop(), 0)
        done = run("standby", "promote", "--config", two.file, "--yes", "--accept-loss")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(two.sql("SELECT count(*) FROM much"), [(40,)])

    def test_that_hangs_is_left_behind_and_caught_up_with(self):
        one, two = self.pair('patience = "300ms"\nwhen_lost = "alone"\n')
        one.serve()
        two.follow()
        self.in_step(one, two)
        two.process.send_signal(signal.SIGSTOP)
        self.addCleanup(lambda: two.is_running() and two.process.send_signal(signal.SIGCONT))
        for _ in range(3):
            sent = run("send", "shop", "More", '{"id": 1}', "--config", one.file)
            self.assertEqual(sent.returncode, 0, sent.stderr)
        self.assertTrue(eventually(lambda: one.told().get("alone")), one.log_text())
        two.process.send_signal(signal.SIGCONT)
        self.in_step(one, two)
        self.assertTrue(eventually(lambda: not one.told().get("alone", True)), one.log_text())

    def test_talks_by_tls_and_changes_its_key_while_it_runs(self):
        import certificates
        certificates.make_all()
        certificates.make_certificate("orders", alternatives="DNS:orders")
        authority, certificate, key = certificates.files_of("orders")
        one, two = self.pair(f'certificate = "{certificate}"\nprivate_key = "{key}"\n'
                             f'authority = "{authority}"\npatience = "20s"\n')
        one.serve()
        two.follow()
        self.in_step(one, two)
        # What is on the way cannot be read: nothing of the database is in a plain greeting.
        done = run("keys", "rotate", self.key)
        self.assertEqual(done.returncode, 0, done.stderr)
        two.kill()
        two.serve()
        self.in_step(one, two)
        done = run("standby", "switch", "--url", one.url)
        self.assertEqual(done.returncode, 0, done.stderr + self.logs(one, two))
        self.in_step(two, one)

    def test_lets_its_primary_in_though_strangers_stand_in_its_door(self):
        one, two = self.pair()
        two.follow()
        self.assertTrue(eventually(lambda: two.told().get("role") == "standby"), two.log_text())
        strangers = [socket.create_connection(("127.0.0.1", two.link)) for _ in range(50)]
        for each in strangers[::2]:
            each.sendall(b"GET / HT")
        one.serve()
        self.in_step(one, two)
        for each in strangers:
            each.close()


if __name__ == "__main__":
    unittest.main()
