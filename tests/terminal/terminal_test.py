#!/usr/bin/env python3
"""`--watch` and `posthorn top` at a pseudo-terminal, against a real node. Everything waits for what
is drawn or for the end of a process; a limit of time is the test runner's."""

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import urllib.request
from pathlib import Path

PROGRAM = sys.argv.pop(1)


class Terminal:
    """A process with a terminal of its own, whose frames can be waited for."""

    def __init__(self, words, folder, rows=24, columns=80, environment=None):
        self.master, self.slave = os.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        env = {name: value for name, value in os.environ.items()
               if name not in ("COLUMNS", "LINES", "NO_COLOR", "POSTHORN_ADMIN_KEY")}
        self.process = subprocess.Popen(
            [PROGRAM, *words], cwd=folder, stdin=self.slave, stdout=self.slave, stderr=subprocess.PIPE,
            env=env | {"TERM": "xterm"} | (environment or {}), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.seen = b""
        self.frame = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def wait_for(self, holds):
        """Reads until a whole frame is as wanted: a text in it, or a condition on it."""
        wanted = holds if callable(holds) else lambda frame: holds in frame
        while True:
            while (end := self.seen.find(b"\033[J")) >= 0:
                whole, self.seen = self.seen[:end], self.seen[end + 3:]
                self.frame = whole[whole.rfind(b"\033[H") + 3:].decode().replace("\033[K", "")
                if wanted(self.plain()):
                    return self.frame
            more = os.read(self.master, 65536)
            assert more, "the terminal was closed"
            self.seen += more

    def plain(self):
        return re.sub(r"\033\[[0-9;]*m", "", self.frame)

    def rest(self):
        """What it draws until it ends, and how it ends."""
        code = self.process.wait()
        os.set_blocking(self.master, False)
        try:
            while more := os.read(self.master, 65536):
                self.seen += more
        except BlockingIOError:
            pass
        return code, self.seen.decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)


class WithNode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        made = json.loads(self.run_program("keys", "admin", "new", "--role", "operator", "--json"))
        self.key = made["key"]
        # Nothing listens on port 1, so that what waits for stock goes on waiting.
        (self.folder / "posthorn.toml").write_text(
            '[service]\nid = "orders"\n[listen]\nadmin = "127.0.0.1:0"\n'
            f'[admin]\nkeys = [{{ name = "desk", role = "operator", hash = "{made["hash"]}" }}]\n'
            '[routes]\nstock = "http://127.0.0.1:1"\n'
            '[secrets]\nstock = "base64:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="\n')
        self.run_program("init")
        self.send("stock")
        self.serve()

    def run_program(self, *words):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def send(self, destination):
        self.run_program("send", destination, "Take", "{}")

    def serve(self):
        self.node = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
                                     cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True)
        self.addCleanup(self.stop)
        self.node.stdout.readline()
        self.url = re.search(r"http://\S+", self.node.stdout.readline()).group()

    def stop(self):
        self.node.terminate()
        self.node.wait()
        self.node.stdout.close()

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

    def at_terminal(self, *words, **more):
        terminal = Terminal([*words, "--url", self.url], self.folder, **more)
        self.addCleanup(terminal.close)
        return terminal

    def with_key(self):
        return {"POSTHORN_ADMIN_KEY": self.key}


class Watch(WithNode):
    def test_redraws_in_place_until_control_c(self):
        terminal = self.at_terminal("outbox", "list", "--watch=0.1", environment=self.with_key())
        terminal.wait_for("stock")
        self.send("mail")
        frame = terminal.wait_for("mail")
        self.assertIn("stock", frame)
        terminal.press("\003")
        code, _ = terminal.rest()
        self.assertEqual(code, 0, "Ctrl-C is how it ends, not a failure")

    def test_shows_colours_and_follows_a_resize(self):
        terminal = self.at_terminal("outbox", "lanes", "--watch=0.1", environment=self.with_key())
        frame = terminal.wait_for(lambda seen: " open " in seen)
        self.assertIn("\033[31mopen\033[0m", frame)
        terminal.resize(24, 40)
        terminal.wait_for(lambda seen: all(len(line) <= 40 for line in seen.split("\r\n")))

    def test_respects_no_color(self):
        terminal = self.at_terminal("health", "--watch=0.1", environment=self.with_key() | {"NO_COLOR": "1"})
        frame = terminal.wait_for("orders ")
        self.assertNotIn("\033[3", frame)
        painted = self.at_terminal("health", "--watch=0.1", environment=self.with_key())
        self.assertRegex(painted.wait_for("orders "), "orders \033\\[3")

    def test_ends_when_its_reader_goes_away(self):
        for words in (["stats"], ["stats", "--json"], ["queue", "list"]):
            process = subprocess.Popen([PROGRAM, *words, "--watch=0.1"], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertTrue(process.stdout.readline())
            process.stdout.close()
            self.assertEqual(process.wait(), 0, process.stderr.read())
            process.stderr.close()


class Top(WithNode):
    def top(self, **more):
        return self.at_terminal("top", environment=self.with_key(), **more)

    def leave(self, terminal):
        """It ended, and the terminal is as it was."""
        code, rest = terminal.rest()
        self.assertTrue(rest.endswith("\033[?25h\033[?1049l"), rest[-80:])
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)
        return code

    def test_pauses_resumes_and_tries_a_destination(self):
        terminal = self.top()
        terminal.wait_for(lambda seen: seen.startswith("orders ") and "> stock" in seen and " open " in seen)
        terminal.press("p")
        terminal.wait_for(lambda seen: "stock is paused" in seen and re.search(r"> stock +paused", seen))
        self.assertEqual(self.get("/_rf/outbox/lanes")["lanes"][0]["state"], "paused")
        terminal.press("r")
        terminal.wait_for("stock goes on")
        terminal.press("t")
        terminal.wait_for("stock is tried now")
        terminal.press("q")
        self.assertEqual(self.leave(terminal), 0)
        changes = self.get("/_rf/audit?who=desk")["entries"]
        self.assertEqual([one["target"].rsplit("/", 1)[1] for one in reversed(changes)],
                         ["pause", "resume", "try"])

    def test_goes_into_a_destination_and_back(self):
        terminal = self.top()
        terminal.wait_for("> stock")
        terminal.press("\r")
        terminal.wait_for(lambda seen: "newest" in seen and "Take" in seen and "dead" in seen)
        terminal.press("\033")
        terminal.wait_for("> stock")
        terminal.press("?")
        terminal.wait_for("Changes need an operator's key")
        terminal.press("q")
        self.assertEqual(self.leave(terminal), 0)

    def test_selects_with_keys_and_keeps_to_the_size_of_the_terminal(self):
        self.send("mail")
        terminal = self.top(rows=24, columns=80)
        terminal.wait_for(lambda seen: "mail" in seen and "stock" in seen)
        terminal.press("k")
        terminal.wait_for("> mail")
        terminal.press("\033[B")
        frame = terminal.wait_for("> stock")
        self.assertEqual(frame.count("\r\n"), 23)
        terminal.resize(10, 50)
        terminal.wait_for(lambda seen: seen.count("\r\n") == 9 and
                          all(len(line) <= 50 for line in seen.split("\r\n")))
        terminal.press("q")
        self.assertEqual(self.leave(terminal), 0)

    def test_says_that_changes_need_a_key(self):
        viewer = json.loads(self.run_program("keys", "admin", "new", "--role", "viewer", "--json"))
        config = self.folder / "posthorn.toml"
        config.write_text(config.read_text().replace(
            "keys = [", f'keys = [{{ name = "wall", role = "viewer", hash = "{viewer["hash"]}" }}, '))
        self.stop()
        self.serve()
        terminal = self.at_terminal("top", environment={"POSTHORN_ADMIN_KEY": viewer["key"]})
        terminal.wait_for("> stock")
        terminal.press("p")
        terminal.wait_for(lambda seen: "set POSTHORN_ADMIN_KEY" in " ".join(seen.split()))
        self.assertNotIn("pausedSince", self.get("/_rf/outbox/lanes")["lanes"][0])

    def test_leaves_the_terminal_as_it_was_on_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            terminal = self.top()
            terminal.wait_for("> stock")
            terminal.process.send_signal(number)
            self.assertEqual(self.leave(terminal), 0)

    def test_tells_that_the_node_went_away_and_shows_what_it_last_knew(self):
        terminal = self.top()
        terminal.wait_for("> stock")
        self.node.terminate()
        self.node.wait()
        terminal.wait_for(lambda seen: "no answer, so this is old" in seen and "> stock" in seen)
        terminal.press("q")
        self.assertEqual(self.leave(terminal), 0)

    def test_prints_one_look_without_a_terminal(self):
        done = subprocess.run([PROGRAM, "top", "--url", self.url], cwd=self.folder, capture_output=True,
                              text=True, env=os.environ | self.with_key())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("orders ", done.stdout)
        self.assertIn("> stock", done.stdout)
        self.assertNotIn("\033", done.stdout)
        self.assertIn("this is one look, since there is no terminal", done.stderr)

    def test_finds_the_node_of_the_folder(self):
        config = self.folder / "posthorn.toml"
        config.write_text(re.sub(r"(?m)^admin = .*$", f'admin = "{self.url.removeprefix("http://")}"',
                                 config.read_text()))
        done = subprocess.run([PROGRAM, "top"], cwd=self.folder, capture_output=True, text=True,
                              env=os.environ | self.with_key())
        self.assertIn("> stock", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
