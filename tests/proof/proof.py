#!/usr/bin/env python3
"""Runs the harnesses that show that nothing is lost and nothing takes effect twice.

Small sizes as in ./test, or with --long the large ones; prints a table of what was survived.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

from harnesses import HARNESSES
from jobs import jobs_of
from screen import Screen, summary

ROOT = Path(__file__).resolve().parents[2]
LOOK_INTERVAL = 0.2


def seconds_in(text):
    """90s, 30m, 1h, 1h30m."""
    parts = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or not parts:
        raise argparse.ArgumentTypeError(f"'{text}' is no duration: write 90s, 30m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    if not (total := hours * 3600 + minutes * 60 + seconds):
        raise argparse.ArgumentTypeError("a run takes time: write 90s, 30m or 1h30m")
    return total


def at_least_one(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above zero")
    return int(text)


def arguments(given):
    parser = argparse.ArgumentParser(prog="./test proof", description=__doc__.split("\n")[0])
    parser.add_argument("--long", action="store_true", help="the large sizes")
    parser.add_argument("--for", dest="limit", type=seconds_in, metavar="TIME",
                        help="stop after this long (90s, 30m, 1h); each harness gets its share")
    parser.add_argument("--only", metavar="REGEX", help="only harnesses with such a name")
    parser.add_argument("--seed", type=at_least_one, help="where seeds begin; a long run takes new ones")
    parser.add_argument("--jobs", type=at_least_one, default=os.cpu_count(), help="how many at once")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.add_argument("--list", action="store_true", help="name the harnesses and their sizes")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    parser.add_argument("--fuzz-build", type=Path, default=ROOT / "build/asan",
                        help=argparse.SUPPRESS)
    parser.add_argument("--logs", type=Path, default=ROOT / "build/proof", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def chosen(only):
    try:
        found = [one for one in HARNESSES if not only or re.search(only, one.name)]
    except re.error as why:
        raise SystemExit(f"error: --only {only}: {why}") from None
    if not found:
        names = ", ".join(one.name for one in HARNESSES)
        raise SystemExit(f"error: no harness is called '{only}'; there are: {names}")
    return found


class Run:
    """Keeps as many jobs at work as there are cores, until none is left."""

    def __init__(self, options, jobs):
        self.waiting, self.working, self.ended = list(jobs), [], []
        self.options = options
        self.begun = time.monotonic()
        self.screen = Screen(sys.stderr)
        self.stopped = False

    def seconds_for(self, job):
        """What the job may take: its share of what is left."""
        if not self.options.limit:
            return None
        left = self.begun + self.options.limit - time.monotonic()
        weights = sum(one.weight for one in self.waiting) + job.weight
        return max(1, int(min(left, left * self.options.jobs * job.weight / weights)))

    def step(self):
        for job in [one for one in self.working if one.has_ended()]:
            self.working.remove(job)
            self.ended.append(job)
            self.screen.tell(job)
        while self.waiting and len(self.working) < self.options.jobs:
            job = self.waiting.pop(0)
            job.start(self.seconds_for(job))
            self.working.append(job)
        self.screen.draw(self.working, self.ended, self.waiting, self.options.limit,
                         time.monotonic() - self.begun)

    def stop(self, *_):
        self.stopped = True

    def __call__(self):
        # Only noted, so that it strikes no half-started harness, which would then be left behind.
        before = {one: signal.signal(one, self.stop) for one in (signal.SIGINT, signal.SIGTERM)}
        while (self.waiting or self.working) and not self.stopped:
            self.step()
            time.sleep(LOOK_INTERVAL)
        for job in self.working:
            job.break_off()
            self.screen.tell(job)
        self.ended += self.working + self.waiting
        self.screen.clear()
        if self.stopped:
            print("broken off; this is what was done until then", file=sys.stderr)
        for one, handler in before.items():
            signal.signal(one, handler)
        return self.ended


def main(given):
    options = arguments(given)
    harnesses = chosen(options.only)
    if options.list:
        for one in harnesses:
            print(f"{one.name:<24} {one.small:>9,} {one.large:>13,} {one.unit}")
        return 0
    if options.seed is None and options.long:
        options.seed = int(time.time())
    jobs = [job for one in harnesses for job in jobs_of(one, options, options.logs)]
    for job in jobs:
        if problem := job.problem():
            raise SystemExit(f"error: {problem}")
    shutil.rmtree(options.logs, ignore_errors=True)
    options.logs.mkdir(parents=True)
    begun = time.monotonic()
    rows = summary(harnesses, Run(options, jobs)())
    took = time.monotonic() - begun
    if options.json:
        print(json.dumps({"seconds": round(took, 1), "seed": options.seed, "harnesses": rows},
                         indent=2))
    else:
        Screen.table(rows, took, options.seed)
    return 0 if all(row["result"] == "held" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
