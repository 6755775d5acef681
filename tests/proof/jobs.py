"""One harness at work in a process of its own: started, watched, and what came of it."""

import functools
import json
import os
import re
import subprocess
import time
from pathlib import Path

from harnesses import Cases, Fuzzer, Program

ROOT = Path(__file__).resolve().parents[2]
SILENCE_MAX = 900  # A harness that says nothing for so long hangs.
FOUND = re.compile(r": Failure$|^ERROR: (Address|libFuzzer)|\*\*\*Failed", re.MULTILINE)
SEEDS_APART = 10_000_000  # Between two jobs of one harness.


class Job:
    def __init__(self, harness, folder, number):
        self.harness = harness
        self.name, self.weight = harness.name, harness.weight
        self.log = folder / f"{re.sub(r'[^a-z0-9]+', '-', harness.name.lower())}.{number}.log"
        self.process = None
        self.done, self.counts, self.failed, self.broken_off = 0, {}, False, False
        self.seconds = 0.0

    def launch(self, command, environment=None):
        self.begun = self.heard = time.monotonic()
        self.output = open(self.log, "wb")
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.STDOUT,
                                        env=os.environ | (environment or {}),
                                        start_new_session=True)

    def has_ended(self):
        self.look()
        self.seconds = time.monotonic() - self.begun
        code = self.process.poll()
        if code is None:
            if time.monotonic() - self.heard > SILENCE_MAX:
                self.kill()
                self.say(f"nothing was heard of it for {SILENCE_MAX} s")
            return False
        self.output.close()
        self.look()
        self.failed = code != 0
        return True

    def kill(self):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass

    def break_off(self):
        self.broken_off = True
        self.kill()
        self.process.wait()
        self.output.close()
        self.failed = bool(FOUND.search(self.text()))

    def text(self):
        return self.log.read_text(errors="replace")

    def say(self, line):
        with open(self.log, "a") as log:
            log.write(f"\n{line}\n")

    def look(self):
        """Takes notice of how far it is."""


class ProgramJob(Job):
    def __init__(self, harness, options, folder, number, of):
        super().__init__(harness, folder, number)
        self.weight = harness.weight / of
        self.program = options.build / harness.program
        self.report = self.log.with_suffix(".json")
        rounds = harness.large if options.long else harness.small
        self.rounds = -(-rounds // of)
        self.environment = dict(harness.environment) if options.long else {}
        self.environment["POSTHORN_PROOF_ROUNDS"] = str(self.rounds)
        self.environment["POSTHORN_PROOF_REPORT"] = str(self.report)
        if options.seed is not None or number:
            first = (options.seed or 1) + number * SEEDS_APART
            self.environment["POSTHORN_PROOF_SEED"] = str(first)

    def problem(self):
        if not self.program.is_file():
            return f"{self.program} is missing: ./test proof builds it"
        return None

    def start(self, seconds):
        if seconds is not None:
            self.environment["POSTHORN_PROOF_SECONDS"] = str(seconds)
        self.launch([self.program, f"--gtest_filter={self.harness.case}", "--gtest_brief=1"],
                    self.environment)

    def look(self):
        if not self.report.exists():
            return
        with open(self.report, "rb") as file:
            file.seek(max(0, self.report.stat().st_size - 4096))
            lines = file.read().split(b"\n")
        if len(lines) < 2:
            return
        said = json.loads(lines[-2])
        if said["done"] != self.done:
            self.heard = time.monotonic()
        self.done, self.counts = said["done"], said["counts"]

    def has_ended(self):
        ended = super().has_ended()
        if ended and not self.done and not self.failed:  # A filter that matches nothing passes.
            self.failed = True
            self.say(f"no round was done of {self.harness.case}")
        return ended


class FuzzerJob(Job):
    def __init__(self, harness, options, folder):
        super().__init__(harness, folder, 0)
        self.program = options.fuzz_build / harness.program
        self.corpus = ROOT / harness.corpus
        self.words = self.corpus.parents[1] / "words" / f"{self.corpus.name}.dict"
        self.found = folder / (self.log.stem + ".found")
        self.rounds = harness.large if options.long else harness.small

    def problem(self):
        if not self.program.is_file():
            return f"{self.program} is missing: ./test proof builds it"
        return None

    def start(self, seconds):
        self.rounds = min(self.rounds, seconds or self.rounds)
        self.found.mkdir()
        words = [f"-dict={self.words}"] if self.words.is_file() else []
        self.launch([self.program, self.found, self.corpus, *words,
                     f"-max_total_time={self.rounds}", f"-artifact_prefix={self.found}/",
                     "-timeout=10", "-rss_limit_mb=1024", "-max_len=8192", "-print_final_stats=1"])

    def look(self):
        self.heard = time.monotonic()  # It ends by itself.
        self.done = min(self.rounds, int(time.monotonic() - self.begun))
        if found := re.search(r"stat::number_of_executed_units:\s*(\d+)", self.text()[-4096:]):
            self.counts = {"executions": int(found[1])}

    def has_ended(self):
        ended = super().has_ended()
        if ended and self.failed:
            for crash in self.found.glob("*-*"):
                self.say(f"the input is {crash}; once more: {self.program} {crash}")
        return ended


@functools.cache
def lists_its_tests(build):
    """When ctest first runs after a build, it asks every program for its tests and writes them down:
    several at once would spoil each other's lists."""
    return subprocess.run(["ctest", "--test-dir", build, "-N"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


class CasesJob(Job):
    def __init__(self, harness, options, folder):
        super().__init__(harness, folder, 0)
        self.build = options.build
        self.rounds = harness.small

    def problem(self):
        if lists_its_tests(self.build):
            return None
        return f"ctest cannot list the tests in {self.build}: build them first"

    def start(self, _seconds):
        selection = ["-L", f"^{self.harness.label}$"] if self.harness.label else []
        selection += ["-R", self.harness.cases] if self.harness.cases else []
        self.launch(["ctest", "--test-dir", self.build, "--output-on-failure", "--no-tests=error",
                     *selection])

    def look(self):
        passed = len(re.findall(r"^ *\d+/\d+ Test .* Passed ", self.text(), re.MULTILINE))
        if passed != self.done:
            self.heard = time.monotonic()
        self.done = passed
        if found := re.search(r"^ *\d+/(\d+) Test ", self.text(), re.MULTILINE):
            self.rounds = int(found[1])


def jobs_of(harness, options, folder):
    if isinstance(harness, Fuzzer):
        return [FuzzerJob(harness, options, folder)]
    if isinstance(harness, Cases):
        return [CasesJob(harness, options, folder)]
    assert isinstance(harness, Program)
    of = options.jobs if harness.split else 1
    return [ProgramJob(harness, options, folder, number, of) for number in range(of)]
