#!/usr/bin/env python3
"""Compiles a file that must not compile, and compares the one line that its author sees.

The file's first comment says `// expect: posthorn: …`, the whole text of the only error, which may be
a warning; there is no other beside it. `// only: COMPILER` after it says that the others cannot read it at all.
"""

import argparse
import itertools
import re
import subprocess
import sys
from pathlib import Path

COMPLAINT = re.compile(r"(?:fatal )?(?:error|warning): (.*?)(?: \[-Werror\S*\])?$")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    lines = options.file.read_text(encoding="utf-8").splitlines()
    comment = itertools.takewhile(lambda line: line.startswith("// "), lines)
    text = " ".join(line.removeprefix("// ") for line in comment).removeprefix("expect: ")
    expected, _, only = text.partition(" only: ")
    if only and only != options.compiler:
        print(f"for {only} alone")
        return
    command = [options.compiler, "-std=c++23", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
               *(f"-I{folder}" for folder in options.include), str(options.file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [found[1] for found in map(COMPLAINT.search, run.stderr.splitlines()) if found]
    if run.returncode == 0:
        sys.exit(f"{options.file.name} compiles, but was to be refused")
    # Compilers put their own words, and the failed condition, before ours.
    if len(errors) != 1 or not errors[0].endswith(": " + expected):
        sys.exit(f"expected this alone:\n  {expected}\nsaw:\n  " + "\n  ".join(errors))
    print(errors[0])


if __name__ == "__main__":
    main()
