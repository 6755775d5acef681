#!/usr/bin/env python3
"""A secret that stands where the name of its place belongs, or a place that holds something else than a
secret of that kind, is quoted nowhere: by no command, no start, no reload, no log and no answer of the
admin listener, whichever key it is.

raw_secrets_test.py PROGRAM
"""

import base64
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from node import Node, eventually, new_folder

PROGRAM = sys.argv.pop(1)
# As people write them: a word, a phrase, with the signs that a generator likes, as a key of ours.
RAW = ["hunter2Canary", "correct horse hunter2Canary", "p@ss#hunter2Canary!x", "phk_hunter2Canary"]
CANARY = "hunter2Canary"

# Every key that holds a secret or says where it lies; {} is what was written there.
PLACES = [
    '[secrets]\nx = "{}"',
    '[secrets]\nx = ["{}"]',
    '[secrets]\nx = {{ secret = "{}" }}',
    '[secrets]\nx = {{ secret = "env:GOOD", until = "{}" }}',
    '[admin]\nkeys = ["{}"]',
    '[admin]\nkeys = [{{ name = "a", role = "viewer", hash = "{}" }}]',
    '[admin]\nkeys = [{{ name = "a", role = "viewer", key = "{}" }}]',
    '[admin]\nproxy_secret = "{}"',
    '[desk]\nnodes = [{{ name = "a", url = "http://127.0.0.1:1", key = "{}" }}]',
    '[desk]\nnodes = [{{ name = "a", url = "http://u:{}@127.0.0.1:1" }}]',
    '[webhooks]\nkey = "{}"',
    '[webhooks]\nkey_before = "{}"',
    '[webhooks]\ntenant_secrets = "{}"',
    '[webhooks]\nsubscribers = [{{ url = "https://a.example/", secret = "{}" }}]',
    '[webhooks]\nsubscribers = [{{ url = "https://u:{}@a.example/", secret = "env:GOOD" }}]',
    '[webhooks]\nsubscribers = [{{ url = "https://a.example/", secret = "env:HOOK", headers = "{}" }}]',
    '[standby]\nto = "127.0.0.1:1"\nkey = "{}"',
    '[standby]\nlisten = "127.0.0.1:0"\nkey = "{}"',
    '[otlp]\nendpoint = "http://u:{}@127.0.0.1:1"',
    '[otlp]\nendpoint = "http://127.0.0.1:1"\nheaders = "{}"',
    '[forward]\ncategories = [{{ name = "A", to = "https://a.example/", password = "{}" }}]',
    '[forward]\ncategories = [{{ name = "A", to = "sql:SELECT 1", database = "Host=h;Password={}" }}]',
    '[routes]\nx = "http://u:{}@127.0.0.1:1"',
    '[routes]\nx = {{ url = "http://127.0.0.1:1", secret = "{}" }}',
    '[signatures]\nx = "{}"',
    '[signatures]\nx = {{ scheme = "v2", secret = "{}" }}',
    '[handlers]\nx = "http://u:{}@127.0.0.1:1/"',
    '[handlers]\nx = {{ to = "http://127.0.0.1:1/", token = "{}" }}',
    '[store]\nurl = "postgres://u:{}@127.0.0.1:1/d"',
    '[store]\nurl = "postgres://127.0.0.1:1/d?password={}"',
    '[store]\ninbox_url = "postgres://u:{}@127.0.0.1:1/d"',
    '[tls]\nkey = "-----BEGIN PRIVATE KEY-----{}"',
    '[routes]\nx = "amqp://u:{}@127.0.0.1:1"',
    '[routes]\nx = {{ url = "nats://u@127.0.0.1:1", password = "{}" }}',
    '[routes]\nx = "kafka://u@127.0.0.1:1,u:{}@127.0.0.1:1/t"',
    '[consume]\nsources = [{{ name = "a", url = "amqp://u:{}@127.0.0.1:1", queue = "a" }}]',
    '[consume]\nsources = [{{ name = "a", url = "nats://u@127.0.0.1:1", stream = "a", password = "{}" }}]',
]
# Those that lead elsewhere; {} is a reference to something that is not what belongs there.
REFERENCES = [
    '[secrets]\nx = "{}"',
    '[secrets]\nx = ["{}", "env:GOOD"]',
    '[desk]\nnodes = [{{ name = "a", url = "http://127.0.0.1:1", key = "{}" }}]',
    '[webhooks]\nkey = "{}"',
    '[webhooks]\nkey = "env:GOOD"\nkey_before = "{}"',
    '[webhooks]\nsubscribers = [{{ url = "https://a.example/", secret = "{}" }}]',
    '[standby]\nto = "127.0.0.1:1"\nkey = "{}"',
    '[otlp]\nendpoint = "http://127.0.0.1:1"\nheaders = "{}"',
    '[routes]\nx = {{ url = "amqp://u@127.0.0.1:1", password = "{}" }}',
    '[routes]\nx = {{ url = "kafka://u@127.0.0.1:1/t", password = "{}" }}',
    '[consume]\nsources = [{{ name = "a", url = "amqp://u@127.0.0.1:1", queue = "a", password = "{}" }}]',
    '[consume]\nsources = [{{ name = "a", url = "nats://u@127.0.0.1:1", stream = "a", password = "{}" }}]',
]
GOOD = base64.b64encode(b"x" * 32).decode()


class RawSecrets(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(new_folder())
        self.environment = {"GOOD": GOOD, "HOOK": "whsec_" + GOOD}
        self.said = 0
        self.quoted = []

    def write(self, configuration):
        """As a whole file: a section must not come twice."""
        store = "" if "[store]" in configuration else \
            f'[store]\nurl = "sqlite:{self.folder}/shop.db"\n'
        listen = '[listen]\nhttp = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n'
        file = self.folder / "shop.toml"
        file.write_text(f'[service]\nid = "shop"\n{store}{listen}{configuration}\n')
        return file

    def run_all(self, configuration):
        """What every command, and a start, says of the file."""
        file = self.write(configuration)
        said = []
        for words in (["config", "show"], ["config", "check"], ["doctor"]):
            run = subprocess.run([PROGRAM, *words, "--config", file], capture_output=True, text=True,
                                 timeout=240, env=self.whole_environment())
            said.append((words, run.stdout + run.stderr))
        serve = subprocess.Popen([PROGRAM, "serve", "--config", file], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, env=self.whole_environment())
        heard = ""
        for line in serve.stdout:  # It ends, or it listens.
            heard += line
            if "listening" in line:
                serve.send_signal(signal.SIGTERM)
        serve.wait(60)
        serve.stdout.close()
        said.append((["serve"], heard))
        return said

    def whole_environment(self):
        return os.environ | self.environment

    def expect_hidden(self, configuration, said):
        for words, text in said:
            self.said += 1
            if CANARY in text:
                self.quoted.append((configuration, words, text[max(0, text.index(CANARY) - 200):][:400]))

    def test_what_stands_in_the_place_of_a_reference_is_quoted_nowhere(self):
        for place in PLACES:
            for raw in RAW:
                configuration = place.format(raw)
                self.expect_hidden(configuration, self.run_all(configuration))
        self.assertEqual(self.said, len(PLACES) * len(RAW) * 4)
        self.assertEqual(self.quoted, [])

    def test_what_a_reference_leads_to_is_quoted_nowhere(self):
        for number, raw in enumerate(RAW):
            self.environment["RAW_ONE"] = raw
            file = self.folder / f"raw{number}"
            file.write_text(raw)
            file.chmod(0o600)
            for place in REFERENCES:
                for reference in ("env:RAW_ONE", f"file:{file}"):
                    configuration = place.format(reference)
                    self.expect_hidden(configuration, self.run_all(configuration))
        self.assertEqual(self.said, len(REFERENCES) * len(RAW) * 2 * 4)
        self.assertEqual(self.quoted, [])

    def test_a_reload_and_the_admin_listener_quote_none(self):
        node = Node(PROGRAM, "shop", '[log]\nlevel = "trace"\nformat = "json"\n'
                    f'[secrets]\nx = "base64:{GOOD}"\n', folder=self.folder,
                    environment=self.environment)
        text = node.file.read_text().replace('[log]\nformat = "json"\n', "", 1)
        node.write(text)
        node.init().start()
        try:
            for place in PLACES + REFERENCES:
                if "[store]" in place or "[secrets]" in place:
                    continue
                for raw in RAW:
                    before = len(node.log_text())
                    node.write(text + place.format(raw) + "\n")
                    node.process.send_signal(signal.SIGHUP)
                    self.assertTrue(eventually(lambda: "\n" in node.log_text()[before:]), place)
            for raw in RAW:
                before = len(node.log_text())
                node.write(text.replace(f"base64:{GOOD}", raw))
                node.process.send_signal(signal.SIGHUP)
                self.assertTrue(eventually(lambda: "\n" in node.log_text()[before:]), raw)
            paths = [path for path, methods in
                     node.get_json("/_rf/openapi.json")["paths"].items()
                     if "get" in methods and "{" not in path and "live" not in path]
            self.assertGreater(len(paths), 20)
            for path in paths:
                try:
                    answer = node.get(path)
                except Exception as refusal:  # Such as one that needs a parameter.
                    answer = str(refusal)
                self.assertNotIn(CANARY, answer, path)
                self.assertNotIn(GOOD, answer, path)
        finally:
            node.stop()
        self.assertNotIn(CANARY, node.log_text())
        self.assertNotIn(GOOD, node.log_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
