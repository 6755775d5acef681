"""A small project in a temporary folder on which the self-tests run a check."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock


class FakeTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def run_check(self, module, *arguments):
        """(exit code, what was printed)"""
        out = io.StringIO()
        words = [module.__name__, "--root", str(self.root), *map(str, arguments)]
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out):
            code = module.check()
        return code, out.getvalue()

    def assert_clean(self, module, *arguments):
        code, out = self.run_check(module, *arguments)
        self.assertEqual((code, out.startswith("ok: ")), (0, True), out)

    def assert_found(self, module, where, wrong, instead, *arguments):
        """One violation and no other: at `where`, saying what is wrong and what to do instead."""
        code, out = self.run_check(module, *arguments)
        lines = out.splitlines()
        self.assertEqual((code, len(lines)), (1, 2), out)
        self.assertTrue(lines[0].startswith(f"{where}: "), out)
        said, _, advice = lines[0].partition("; ")
        self.assertIn(wrong, said)
        self.assertIn(instead, advice)
