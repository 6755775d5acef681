#!/usr/bin/env python3
"""The archive of a real node, and what the program restores from it.

archive_test.py PROGRAM
"""

import json
import sqlite3
import subprocess
import sys
import unittest
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from node import Node, eventually, new_folder

PROGRAM = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Archive(unittest.TestCase):
    def setUp(self):
        self.folder = Path(new_folder())
        self.node = Node(PROGRAM, "orders", '[standby]\narchive = "archive"\narchive_every = "200ms"\n'
                         '[routes]\nshop = "http://127.0.0.1:9"\n[secrets]\n'
                         'shop = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="\n'
                         '[outbox]\nmax_retries = 1000\n', self.folder)
        self.start()
        self.node.sql("CREATE TABLE taken (n INTEGER)")

    def start(self):
        self.node.start()
        self.addCleanup(lambda: self.node.process.poll() is None and self.node.kill())

    def told(self):
        return self.node.get_json("/_rf/standby/archive")

    def wait_for(self, moment):
        self.assertTrue(eventually(lambda: self.told()["oldest"] and self.told()["newest"] >= moment), self.told())

    def restore(self, *options):
        into = self.folder / "then.db"
        into.unlink(missing_ok=True)
        done = run("restore", "--config", self.node.file, "--to", into, "--json", *options)
        if done.returncode != 0:
            return done.stderr, None
        with closing(sqlite3.connect(into)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            rows = [row[0] for row in database.execute("SELECT n FROM taken ORDER BY n")]
        return json.loads(done.stdout), rows

    def test_is_restored_to_a_moment_with_business_tables_and_messages(self):
        self.node.sql("INSERT INTO taken VALUES (1)")
        done = run("send", "shop", "Taken", '{"n":1}', "--config", self.node.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_for(now())  # The node's next commit brings it along.
        before = now()
        self.node.sql("DELETE FROM taken")
        after = now()
        self.wait_for(after)
        told, rows = self.restore("--at", before)
        self.assertEqual(rows, [1])
        self.assertLessEqual(told["moment"], before)
        self.assertGreater(told["nextAt"], before)
        with closing(sqlite3.connect(self.folder / "then.db")) as database:
            self.assertEqual(database.execute("SELECT count(*) FROM outbox_messages").fetchone(), (1,))
        self.assertEqual(self.restore("--latest")[1], [])
        # Over nothing that is there.
        refused = run("restore", "--config", self.node.file, "--at", before)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is there already and stays as it is", refused.stderr)
        dry = run("restore", "--config", self.node.file, "--latest", "--dry-run", "--to", self.folder / "no.db")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertIn("could restore", dry.stdout)
        self.assertEqual(list(self.folder.glob("no.db*")), [])

    def test_goes_on_over_kills_and_names_what_is_lost(self):
        for n in range(4):
            self.node.sql("INSERT INTO taken VALUES (?)", n)
            self.wait_for(now())
            self.node.kill()
            self.start()
        self.wait_for(now())
        listed = json.loads(run("restore", "--list", "--config", self.node.file, "--json").stdout)
        self.assertEqual((len(listed["stretches"]), listed["gaps"]), (1, []))
        self.assertEqual(self.restore("--latest")[1], [0, 1, 2, 3])
        self.assertEqual(self.node.stop(), 0)

        newest = sorted(Path(listed["stretches"][-1]["folder"]).glob("log-*"))[-1]
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        why, _ = self.restore("--latest")
        self.assertIn(f"{newest} is damaged", why)
        newest.unlink()
        self.assertIn("FROM", run("restore", "--list", "--config", self.node.file).stdout)

    def test_is_told_by_the_node_and_its_metrics(self):
        self.wait_for(now())
        told = self.told()
        self.assertEqual((told["configured"], told["trouble"], told["gaps"], told["lost"]), (True, "", [], []))
        self.assertGreater(told["bytes"], 4096)
        self.assertIn("posthorn_archive_failing 0", self.node.get("/metrics"))
        self.assertEqual(self.node.get_json("/_rf/health")["reasons"], [])
        self.assertEqual(self.node.get_json("/_rf/standby")["role"], "none")

    def test_is_refused_where_it_cannot_be(self):
        def problem(text):
            node = Node(PROGRAM, "other", text)
            checked = run("config", "check", "--config", node.file)
            self.assertEqual(checked.returncode, 2)
            return checked.stdout + checked.stderr
        self.assertIn("standby.archive_keep", problem('[standby]\narchive = "a"\narchive_keep = "1h"\n'))
        self.assertIn("standby.archive", problem('[standby]\narchive = ""\n'))
        bare = Node(PROGRAM, "bare", "").init()
        refused = run("restore", "--latest", "--config", bare.file)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("say where the archive is", refused.stderr)
        for words in (["--at", "yesterday"], ["--latest", "--list"], []):
            refused = run("restore", "--config", self.node.file, *words)
            self.assertEqual(refused.returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
