#!/usr/bin/env python3
"""Compiles a service of fifty messages with ten fields each, both ends, and limits the work.

What is limited is counted by the compiler itself and is the same on every machine, however busy:
the bytes that g++ allocates, and the types that clang++ makes. The limits are what ten seconds of a
quiet machine are enough for; the seconds that it took here are printed.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MESSAGES = 50
FIELDS = ["std::string a", "std::string b", "std::int64_t c", "std::int32_t d", "bool e",
          "double f", "std::optional<std::string> g", "std::vector<std::string> h",
          "posthorn::uuid i", "posthorn::wall_time j"]


class Work:
    """How a compiler tells of its work, and how much of it is allowed."""

    def __init__(self, option, pattern, unit, most):
        self.option, self.pattern, self.unit, self.most = option, pattern, unit, most


WORK = {"g++-12": Work(["-ftime-report"], r"TOTAL\s*:.*?(\d+)M\s*$", "MB allocated", 950),
        "clang++-19": Work(["-Xclang", "-print-stats"], r"(\d+) types total", "types", 820_000)}


def source():
    names = ", ".join(field.split()[-1] for field in FIELDS)
    members = " ".join(f"{field}{{}};" for field in FIELDS)
    lines = ["#include <posthorn/posthorn.hpp>"]
    for n in range(MESSAGES):
        lines += [f"struct m{n} {{ {members} }};",
                  f'POSTHORN_COMMAND(m{n}, "M{n}", std::string, {names})']
    every = ", ".join(f"m{n}" for n in range(MESSAGES))
    lines += [f'using big = posthorn::service<"big", 1, {every}>;', "struct all {"]
    lines += [f"    std::string handle(posthorn::context&, const m{n}& m) {{ return m.a; }}"
              for n in range(MESSAGES)]
    lines += ["};",
              "void serve(posthorn::node& n, all& by) { posthorn::offer<big> o(n, by); }",
              "void use(posthorn::node& n) {", "    posthorn::proxy<big> p(n);"]
    lines += [f"    p.send(m{n}{{}});" for n in range(MESSAGES)]
    lines += ["}", ""]
    return "\n".join(lines)


def compile_once(options, work, file):
    """The work that the compiler counted, and the processor time."""
    before = seconds_spent()
    done = subprocess.run([options.compiler, "-std=c++23", "-c", *work.option,
                           *(f"-I{folder}" for folder in options.include), str(file),
                           "-o", str(file.with_suffix(".o"))],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    counted = re.search(work.pattern, done.stderr, re.MULTILINE)
    if counted is None:
        sys.exit(f"{options.compiler} does not tell of its work:\n{done.stderr}")
    return int(counted[1]), seconds_spent() - before


def seconds_spent():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, choices=WORK)
    parser.add_argument("--include", action="append", required=True)
    options = parser.parse_args()
    work = WORK[options.compiler]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "big.cpp"
        file.write_text(source(), encoding="utf-8")
        counted, seconds = compile_once(options, work, file)
    print(f"{MESSAGES} messages of {len(FIELDS)} fields: {counted} {work.unit}, "
          f"{seconds:.1f} s of processor time")
    if counted > work.most:
        sys.exit(f"at most {work.most} are allowed")


if __name__ == "__main__":
    main()
