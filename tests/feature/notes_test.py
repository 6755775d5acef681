#!/usr/bin/env python3
"""The example feature at work in a real program: on a file, and in a node that runs."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

PROGRAM = sys.argv.pop(1)


class Notes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.run_program("init", "--service", "orders")

    def run_program(self, *words):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_its_commands_work_on_a_file(self):
        self.assertEqual(self.run_program("notes", "list"), "none\n")
        self.run_program("notes", "add", "--text", "stock is down")
        self.assertIn("stock is down", self.run_program("notes", "list"))
        notes = json.loads(self.run_program("notes", "list", "--json"))
        self.assertEqual(notes, {"notes": [{"seq": 1, "text": "stock is down"}]})

    def test_the_program_explains_it(self):
        self.assertIn("leave notes for other operators", self.run_program("--help"))
        self.assertIn("--text", self.run_program("notes", "add", "--help"))
        self.assertIn("notes.worry_above", self.run_program("config", "show"))

    def test_a_node_has_its_route_its_metric_and_its_health(self):
        file = Path(self.folder.name) / "posthorn.toml"
        file.write_text(file.read_text() +
                        '\n[notes]\ncount_every = "10ms"\nworry_above = 1\n')
        node = subprocess.Popen([PROGRAM, "serve", "--config", "posthorn.toml",
                                 "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
                                cwd=self.folder.name, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(node.wait)
        self.addCleanup(node.terminate)
        self.addCleanup(node.stdout.close)
        node.stdout.readline()
        admin = re.search(r"http://\S+", node.stdout.readline()).group()

        def get(path):
            with urllib.request.urlopen(admin + path) as answer:
                return answer.read().decode()

        for text in ["one", "two"]:
            self.run_program("notes", "add", "--text", text)
        self.assertEqual([note["text"] for note in json.loads(get("/_rf/notes"))["notes"]],
                         ["one", "two"])
        while "posthorn_notes 2\n" not in get("/metrics"):
            pass  # The service counts every 10 ms; ctest ends a test that hangs.
        while "there are many notes" not in get("/_rf/health"):
            pass


if __name__ == "__main__":
    unittest.main()
