#!/usr/bin/env python3
"""Tests of the runner, with harnesses that are a line of shell each."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import proof
from harnesses import Program

REPORT = ('echo \'{"harness":"x","done":%s,"rounds":9,"seconds":1,"ended":true,'
          '"counts":{"messages":%s}}\' >>"$POSTHORN_PROOF_REPORT"\n')


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def harness(self, script, **more):
        name = f"harness {len(list(self.folder.glob('*.sh')))}"
        program = self.folder / f"{name}.sh"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        return Program(**({"name": name, "unit": "rounds", "small": 9, "large": 99, "weight": 1,
                           "program": program.name, "case": "x.y"} | more))

    def run_proof(self, harnesses, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with mock.patch.object(proof, "HARNESSES", harnesses), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(err):
            code = proof.main([*arguments, "--json", "--build", str(self.folder),
                               "--logs", str(self.folder / "logs")])
        return code, json.loads(out.getvalue())["harnesses"], err.getvalue()

    def test_a_harness_that_passes_is_held_with_what_it_counted(self):
        code, rows, _ = self.run_proof([self.harness(REPORT % (9, 1234))])
        self.assertEqual(code, 0)
        self.assertEqual((rows[0]["result"], rows[0]["done"], rows[0]["of"], rows[0]["counts"]),
                         ("held", 9, 9, {"messages": 1234}))

    def test_one_that_fails_is_told_with_what_it_printed_and_the_others_go_on(self):
        code, rows, err = self.run_proof([
            self.harness(REPORT % (3, 1) + "echo replay it: --seed=7; exit 1"),
            self.harness(REPORT % (9, 1))])
        self.assertEqual(code, 1)
        self.assertEqual([row["result"] for row in rows], ["FAILED", "held"])
        self.assertIn("replay it: --seed=7", err)

    def test_a_case_that_does_not_exist_is_not_held(self):
        code, rows, err = self.run_proof([self.harness("exit 0")])
        self.assertEqual((code, rows[0]["result"]), (1, "FAILED"))
        self.assertIn("no round was done", err)

    def test_sizes_and_seeds_reach_the_harness(self):
        say = 'echo "$POSTHORN_PROOF_ROUNDS $POSTHORN_PROOF_SEED $EXTRA" >>%s/said; ' % self.folder
        one = self.harness(say + REPORT % (1, 1), split=True, environment={"EXTRA": "large"})
        self.run_proof([one], "--jobs", "2")
        said = sorted((self.folder / "said").read_text().splitlines())
        self.assertEqual(said, ["5  ", "5 10000001 "])
        (self.folder / "said").unlink()
        self.run_proof([one], "--jobs", "2", "--long", "--seed", "40")
        said = sorted((self.folder / "said").read_text().splitlines())
        self.assertEqual(said, ["50 10000040 large", "50 40 large"])

    def test_time_is_shared_by_weight_and_what_is_left_over_goes_to_the_next(self):
        say = 'echo "$POSTHORN_PROOF_SECONDS" >>%s/said; ' % self.folder + REPORT % (1, 1)
        self.run_proof([self.harness(say), self.harness(say, weight=3)], "--jobs", "1",
                       "--for", "1h")
        first, second = (int(line) for line in (self.folder / "said").read_text().split())
        self.assertAlmostEqual(first, 900, delta=5)
        self.assertAlmostEqual(second, 3600, delta=30)

    def test_what_is_broken_off_or_was_never_begun_is_not_held(self):
        code, rows, _ = self.run_proof([self.harness("kill -INT $PPID; exec sleep 60"),
                                        self.harness(REPORT % (9, 1))], "--jobs", "1")
        self.assertEqual((code, [row["result"] for row in rows]), (1, ["broken off", "not run"]))

    def test_a_program_that_is_not_built_is_named(self):
        one = self.harness("exit 0", program="nowhere")
        with self.assertRaises(SystemExit) as refused:
            self.run_proof([one])
        self.assertIn("nowhere is missing", str(refused.exception))

    def test_mistakes_in_the_command_are_explained(self):
        for given, expected in ((["--for", "soon"], "90s, 30m"), (["--for", "0s"], "takes time")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as err:
                proof.arguments(given)
            self.assertIn(expected, err.getvalue())
        with self.assertRaises(SystemExit) as refused:
            self.run_proof([self.harness("exit 0")], "--only", "nothing like it")
        self.assertIn("harness 0", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
