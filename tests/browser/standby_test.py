#!/usr/bin/env python3
"""The desk's page of the standby and the archive in Debian's Chromium, against a real pair.

    standby_test.py PROGRAM NODE_MODULES [CASE...]
"""

import re
import subprocess
import unittest

from desk_case import PROGRAM, DeskCase, admin_key
from node import Node, eventually, new_folder

KEY = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


class Standby(DeskCase):
    """A primary with its standby and its archive."""

    SCRIPT = "standby.js"

    def setUp(self):
        made = admin_key("shift", "--role", "viewer")
        self.viewer = made["key"]
        self.admin = f'[admin]\nkeys = [{{ name = "shift", role = "viewer", hash = "{made["hash"]}" }}]\n'

    def node(self, standby):
        made = Node(PROGRAM, "orders", f"{standby}{self.admin}", new_folder(), {"PAIR_KEY": KEY}).init().start()
        self.addCleanup(made.kill)
        return made

    def follower(self):
        folder = new_folder()
        with open(f"{folder}/two.toml", "w") as file:
            file.write(f'[service]\nid = "orders"\n[store]\nurl = "sqlite:{folder}/orders.db"\n'
                       '[listen]\nhttp = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n'
                       '[standby]\nlisten = "127.0.0.1:0"\nkey = "env:PAIR_KEY"\n')
        process = subprocess.Popen([PROGRAM, "standby", "follow", "--config", file.name], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env={"PAIR_KEY": KEY})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process, re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())[1]

    def browse(self, case, node, answer=None):
        self.run_case(case, {"orders": f"http://127.0.0.1:{node.admin}", "viewer": self.viewer}, answer)

    def test_what_a_promotion_would_lose_and_which_moments_can_be_restored_is_shown(self):
        process, port = self.follower()
        node = self.node(f'[standby]\nto = "127.0.0.1:{port}"\nkey = "env:PAIR_KEY"\nmode = "async"\n'
                         'archive = "archive"\narchive_every = "200ms"\n')
        self.assertTrue(eventually(
            lambda: node.get_json("/_rf/standby/archive", self.viewer)["oldest"]), node.log_text()[-3000:])

        def lose(_):
            process.kill()
        self.browse("pair", node, lose)

    def test_a_node_without_either_says_what_they_are_for(self):
        self.browse("none", self.node(""))


unittest.main()
