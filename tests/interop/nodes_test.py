#!/usr/bin/env python3
"""Several nodes in one desk: real nodes that ask each other over HTTP, and servers that are none.

nodes_test.py PROGRAM
"""

import datetime
import http.server
import json
import os
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from node import Node, eventually, new_folder

PROGRAM = sys.argv.pop(1)
MARKUP = "<img src=x onerror=alert(1)>"


class Stranger(http.server.BaseHTTPRequestHandler):
    """By the path before the question: says something else, says it without an end, or says nothing."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        if self.path.startswith("/silent"):
            self.server.released.wait()
            return
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(f"<html>{MARKUP}".encode())
            while self.path.startswith("/endless"):
                self.wfile.write(b"x" * 65536)
        except OSError:
            pass  # It was hung up on.

    def log_message(self, *_):
        pass


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([PROGRAM, "keys", "admin", "new", "--role", "viewer", "--json"], check=True,
                              capture_output=True, text=True)
        cls.key = json.loads(made.stdout)
        cls.strangers = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        cls.strangers.released = threading.Event()
        threading.Thread(target=cls.strangers.serve_forever).start()
        cls.addClassCleanup(cls.strangers.server_close)
        cls.addClassCleanup(cls.strangers.shutdown)
        cls.addClassCleanup(cls.strangers.released.set)

        cls.stock = Node(PROGRAM, "stock", '[outbox]\nmax_retries = 0\n'
                         f'[admin]\nkeys = [{{ name = "wall", role = "viewer", hash = "{cls.key["hash"]}" }}]\n')
        cls.stock.init().start()
        cls.addClassCleanup(cls.stock.stop)
        # It keeps its address when it comes back.
        cls.stock.write(cls.stock.file.read_text().replace('admin = "127.0.0.1:0"',
                                                           f'admin = "127.0.0.1:{cls.stock.admin}"'))
        cls.stock.sql("INSERT INTO outbox_messages (destination, endpoint, payload, order_key, correlation_id)"
                      " VALUES ('crm', ?, '{\"a\": \"a payload\"}', 'customer 7', 'visit 7')", MARKUP)

        folder = Path(new_folder())
        wrong = folder / "wrong.key"
        wrong.write_text("phk_wrong\n")
        wrong.chmod(0o600)
        at = f"http://127.0.0.1:{cls.strangers.server_port}"
        stock = f"http://127.0.0.1:{cls.stock.admin}"
        nodes = [f'{{ name = "stock", url = "{stock}/", key = "env:STOCK_KEY" }}',
                 f'{{ name = "locked", url = "{stock}" }}',
                 f'{{ name = "refused", url = "{stock}", key = "file:{wrong}" }}',
                 f'{{ name = "rubbish", url = "{at}/rubbish" }}', f'{{ name = "endless", url = "{at}/endless" }}',
                 '{ name = "gone", url = "http://127.0.0.1:1" }']
        cls.hall = Node(PROGRAM, "hall", f'[desk]\nnodes = [{", ".join(nodes)}]\nnodes_every = "100ms"\n'
                        'nodes_timeout = "30s"\n', environment={"STOCK_KEY": cls.key["key"]})
        cls.hall.init().start()
        cls.addClassCleanup(cls.hall.stop)

    def ask(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.hall.admin}{path}", timeout=120) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def nodes(self):
        return {each["name"]: each for each in self.ask("/_rf/nodes")[1]["nodes"]}

    def light(self, name, light):
        """Waits for it, and gives the node as it is then."""
        self.assertTrue(eventually(lambda: self.nodes()[name]["light"] == light), self.nodes()[name])
        return self.nodes()[name]

    def run_program(self, *words, expected=0):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True,
                              env=os.environ | {"STOCK_KEY": self.key["key"]})
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_each_that_is_no_healthy_node_is_red_in_words(self):
        for name, why in [("locked", "asks for a key"), ("refused", "refuses the key"),
                          ("rubbish", "not as a node does"), ("endless", "does not answer: "),
                          ("gone", "Connection refused")]:
            with self.subTest(name):
                seen = self.light(name, "red")
                self.assertIn(why, seen["reasons"][0])
                self.assertNotIn("seenAt", seen)

    def test_one_that_never_answers_is_red_when_its_time_is_over(self):
        at = f"http://127.0.0.1:{self.strangers.server_port}/silent"
        lobby = Node(PROGRAM, "lobby", f'[desk]\nnodes = [{{ name = "silent", url = "{at}" }}]\n'
                     'nodes_every = "100ms"\nnodes_timeout = "200ms"\n').init().start()
        self.addCleanup(lobby.stop)

        def seen():
            return lobby.get_json("/_rf/nodes")["nodes"][0]

        self.assertTrue(eventually(lambda: seen()["light"] == "red"), seen())
        self.assertIn("has not answered within 200 ms", seen()["reasons"][0])
        [asked] = lobby.get_json("/_rf/search?orderKey=x")["nodes"]
        self.assertIn("has not answered within 200 ms", asked["why"])

    def test_one_goes_away_and_comes_back_and_its_history_says_so(self):
        # It has a message that none can deliver, so it has a worry of its own.
        self.assertTrue(eventually(lambda: self.nodes()["stock"].get("service") == "stock"), self.nodes())
        before = self.nodes()["stock"]["light"]
        self.assertNotEqual(before, "unknown")
        self.stock.stop()
        self.assertTrue(eventually(lambda: "does not answer" in self.nodes()["stock"]["reasons"][0]),
                        self.nodes()["stock"])
        gone = self.nodes()["stock"]
        self.assertEqual(gone["light"], "red")
        self.assertLess(gone["seenAt"], gone["askedAt"])
        silent = [each for each in self.ask("/_rf/search?orderKey=customer%207")[1]["nodes"]
                  if each["node"] == "stock"]
        self.assertEqual([each["answered"] for each in silent], [False])
        self.stock.start()
        self.assertTrue(eventually(lambda: self.nodes()["stock"]["light"] == before), self.nodes()["stock"])
        spans = self.ask("/_rf/nodes/stock")[1]["history"]
        answered = [each["answered"] for each in spans]
        self.assertTrue(answered[0] and answered[-1] and False in answered, spans)

    def test_a_search_finds_what_another_has_and_names_those_that_did_not_answer(self):
        self.assertTrue(eventually(lambda: self.stock.number("SELECT count(*) FROM outbox_messages") == 1))
        [[message]] = self.stock.sql("SELECT message_id FROM outbox_messages")
        for query in ["orderKey=customer%207", "correlationId=visit%207", f"messageId={message}", "destination=crm"]:
            with self.subTest(query):
                status, found = self.ask(f"/_rf/search?{query}")
                self.assertEqual(status, 200, found)
                self.assertEqual([(each["node"], each["messageId"], each["endpoint"]) for each in found["hits"]],
                                 [("stock", message, MARKUP)])
                self.assertEqual({each["node"]: each["answered"] for each in found["nodes"]},
                                 {"stock": True, "locked": False, "refused": False, "rubbish": False,
                                  "endless": False, "gone": False})
        self.assertEqual(self.ask("/_rf/search?orderKey=none")[1]["hits"], [])
        with self.subTest("between two moments"):
            now = datetime.datetime.now(datetime.timezone.utc)
            hour = datetime.timedelta(hours=1)
            at = lambda time: urllib.parse.quote(time.isoformat(timespec="seconds"))
            for since, until, number in [(now - hour, now + hour, 1), (now - 2 * hour, now - hour, 0)]:
                found = self.ask(f"/_rf/search?orderKey=customer%207&since={at(since)}&until={at(until)}")[1]
                self.assertEqual(len(found["hits"]), number, found)
            status, refused = self.ask(f"/_rf/search?since={at(now)}&until={at(now - hour)}")
            self.assertEqual(status, 400)
            self.assertIn("so nothing lies between", refused["message"])
        self.assertEqual(self.ask("/_rf/search?payload=true")[0], 400)

    def test_a_message_of_another_is_shown_without_its_payload(self):
        [[message]] = self.stock.sql("SELECT message_id FROM outbox_messages")
        status, shown = self.ask(f"/_rf/nodes/stock/outbox/{message}")
        self.assertEqual((status, shown["message"]["orderKey"]), (200, "customer 7"))
        self.assertNotIn("a payload", json.dumps(shown))
        self.assertEqual(self.ask(f"/_rf/nodes/stock/outbox/{message}?payload=true")[0], 400)
        self.assertEqual(self.ask("/_rf/nodes/stock/outbox/01890a5d-ac96-774b-bcce-b302099a8057")[0], 404)
        self.assertEqual(self.ask(f"/_rf/nodes/gone/outbox/{message}")[0], 503)
        self.assertEqual(self.ask(f"/_rf/nodes/nobody/outbox/{message}")[0], 404)
        for wrong in ["life/x", f"life/{message}?cause=x", f"life/{message}?payload=true"]:
            self.assertEqual(self.ask(f"/_rf/{wrong}")[0], 400, wrong)

    def test_a_message_is_followed_to_its_receiver_and_to_what_it_caused_there(self):
        secret = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        depot = Node(PROGRAM, "depot", f'[secrets]\ntill = "{secret}"\n[handlers]\n'
                     'Ship = "sql:INSERT INTO outbox_messages (destination, endpoint, payload, causation_id)'
                     " VALUES ('crm', 'Told', '{}', :_message_id)\"\n").init().start()
        self.addCleanup(depot.stop)
        nodes = [f'{{ name = "depot", url = "http://127.0.0.1:{depot.admin}" }}',
                 '{ name = "gone", url = "http://127.0.0.1:1" }']
        till = Node(PROGRAM, "till", f'[secrets]\ndepot = "{secret}"\n[routes]\n'
                    f'depot = "http://127.0.0.1:{depot.port}"\n[desk]\nnodes = [{", ".join(nodes)}]\n').init().start()
        self.addCleanup(till.stop)
        cause = "01890a5d-ac96-774b-bcce-b302099a8057"
        [[message]] = till.sql("INSERT INTO outbox_messages (destination, endpoint, payload, causation_id) VALUES"
                               " ('depot', 'Ship', '{\"a\": \"a payload\"}', ?) RETURNING message_id", cause)
        self.assertTrue(eventually(lambda: till.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'")),
                        till.log_text() + depot.log_text())
        [[caused]] = depot.sql("SELECT message_id FROM outbox_messages")

        shown = till.get_json(f"/_rf/life/{message}?cause={cause}")
        traces = [{name: each[name] for name in ("node", "what", "messageId", "service", "endpoint", "status")}
                  for each in shown["traces"]]
        self.assertEqual(traces, [
            {"node": "depot", "what": "taken", "messageId": message, "service": "till", "endpoint": "Ship",
             "status": "handled"},
            {"node": "depot", "what": "caused", "messageId": caused, "service": "crm", "endpoint": "Told",
             "status": "Pending"}])
        self.assertEqual([(each["node"], each["answered"]) for each in shown["nodes"]], [("depot", True), ("gone", False)])
        self.assertNotIn("a payload", json.dumps(shown))
        # From the receiver's side, who sent it.
        of_caused = till.get_json(f"/_rf/life/{caused}?cause={message}")["traces"]
        self.assertEqual([(each["what"], each["messageId"], each["node"]) for each in of_caused],
                         [("cause", message, "depot"), ("sent", caused, "depot")])
        self.assertEqual(till.get_json(f"/_rf/life/{cause}")["traces"], [])
        url = f"http://127.0.0.1:{till.admin}"
        listed = self.run_program("nodes", "life", message, "--url", url)
        self.assertRegex(listed, r"depot +taken +\S+ +till +Ship +handled")
        self.assertIn("--url", self.run_program("nodes", "life", message, "--config", str(till.file), expected=1))

    def test_commands_and_metrics_tell_the_same(self):
        self.light("gone", "red")
        url = f"http://127.0.0.1:{self.hall.admin}"
        listed = self.run_program("nodes", "list", "--url", url)
        self.assertRegex(listed, r"gone +red ")
        # The database tells it too, and none is asked.
        self.assertRegex(self.run_program("nodes", "list", "--config", str(self.hall.file)), r"gone +red ")
        self.assertIn("red", self.run_program("nodes", "history", "gone", "--config", str(self.hall.file)))
        self.assertIn("--url", self.run_program("nodes", "search", "--orderKey", "x", "--config",
                                                str(self.hall.file), expected=1))
        self.assertIn("customer 7", self.run_program("nodes", "search", "--orderKey", "customer 7", "--url", url,
                                                     "--json"))
        self.assertEqual(self.run_program("nodes", "list", "--database", str(self.stock.database)), "none\n")
        with urllib.request.urlopen(f"{url}/metrics", timeout=120) as answer:
            metrics = answer.read().decode()
        self.assertRegex(metrics, r'posthorn_watched_nodes\{light="red"\} [56]\n')

    def test_the_key_is_nowhere_to_be_seen(self):
        self.light("gone", "red")
        shown = self.run_program("config", "show", "--config", str(self.hall.file))
        self.assertIn("stock (http", shown)
        rows = str(self.hall.sql("SELECT * FROM posthorn_nodes"))
        for text in [shown, self.hall.log_text(), json.dumps(self.nodes()), rows]:
            self.assertNotIn("phk_", text)

    def test_mistakes_are_found_before_a_node_starts(self):
        file = Path(new_folder()) / "p.toml"
        stranger = "phk_" + "a" * 43
        readable = file.with_name("open.key")
        readable.write_text("phk_x")
        readable.chmod(0o644)
        for nodes, found in [
                ('[{ name = "a", url = "ftp://x" }]', "the url of 'a' in desk.nodes cannot be"),
                ('[{ name = "a" }]', "the url of 'a' in desk.nodes cannot be"),
                ('[{ name = "a", url = "http://x/?k=1" }]', "the url of 'a' in desk.nodes cannot be"),
                ('[{ url = "http://x" }]', "desk.nodes name cannot be"),
                ('[{ name = "a/b", url = "http://x" }]', "desk.nodes name cannot be"),
                ('[{ name = "a", url = "http://x" }, { name = "a", url = "http://y" }]', "are called 'a'"),
                ('[{ name = "a", url = "http://x", kye = "env:X" }]', "did you mean 'key'?"),
                (f'[{{ name = "a", url = "http://x", key = "{stranger}" }}]', "has to lie elsewhere"),
                ('[{ name = "a", url = "http://x", key = "env:NOT_SET_HERE" }]', "NOT_SET_HERE is not set"),
                ('[{ name = "a", url = "http://x", key = "file:nowhere" }]', "nowhere cannot be read"),
                (f'[{{ name = "a", url = "http://x", key = "file:{readable}" }}]', "run chmod 600"),
                ('"stock"', "desk.nodes cannot be")]:
            with self.subTest(nodes):
                file.write_text(f"[desk]\nnodes = {nodes}\n")
                said = self.run_program("config", "check", "--config", str(file), expected=2)
                self.assertIn(found, said)
                self.assertIn("p.toml:2", said)
                self.assertNotIn("phk_a", said)
        file.write_text('[desk]\nnodes_every = "10ms"\nnodes_timeout = "0s"\n')
        said = self.run_program("config", "check", "--config", str(file), expected=2)
        self.assertIn("desk.nodes_every cannot be below 100ms", said)
        self.assertIn("desk.nodes_timeout cannot be below 100ms", said)


if __name__ == "__main__":
    unittest.main()
