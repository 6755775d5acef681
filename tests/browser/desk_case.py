"""What the tests of the desk in a browser share. Named as their first arguments: PROGRAM NODE_MODULES."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "interop"))

PROGRAM, MODULES = sys.argv.pop(1), sys.argv.pop(1)
MARKUP = "<img src=x onerror=document.title='run'>"


def admin_key(name, *options):
    made = subprocess.run([PROGRAM, "keys", "admin", "new", "--name", name, *options, "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


class DeskCase(unittest.TestCase):
    """Tests whose cases are functions of SCRIPT, which one browser runs one after another."""

    SCRIPT = ""

    @classmethod
    def setUpClass(cls):
        cls.browser = subprocess.Popen(["node", Path(__file__).with_name(cls.SCRIPT)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, env=os.environ | {"NODE_PATH": MODULES})
        cls.addClassCleanup(cls.close_browser)

    @classmethod
    def close_browser(cls):
        cls.browser.stdin.close()
        cls.browser.wait()
        cls.browser.stdout.close()

    def run_case(self, case, told, answer=None):
        """`answer` is called with each thing that the case says on its way, which waits meanwhile."""
        self.tell(json.dumps({"name": case, "told": told}))
        for line in self.browser.stdout:
            heard = json.loads(line)
            if "said" not in heard:
                self.assertEqual(heard["ended"], "", heard["ended"])
                return
            answer(heard["said"])
            self.tell("")
        self.fail("the browser has ended")

    def tell(self, line):
        self.browser.stdin.write(f"{line}\n")
        self.browser.stdin.flush()
