#!/usr/bin/env python3
"""Compiles a file that must not compile, and compares the one line that its author sees.

The file's first comment says `// expect: posthorn: …`, the whole text of the only error, which may be
a warning; there is no other beside it. `// only: COMPILER` after it says that the others cannot read it at all.
"""

import argparse
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

# What the files begin with, of which a compiler reads the first that is there precompiled.
HEADERS = ("posthorn/workflow.hpp", "posthorn/posthorn.hpp")
COMPLAINT = re.compile(r"(?:fatal )?(?:error|warning): (.*?)(?: \[-Werror\S*\])?$")


def precompile(command, folder):
    """Precompiles the headers, so that each file costs the compiler itself alone."""
    shutil.rmtree(folder, ignore_errors=True)
    for header in HEADERS:
        if "workflow" in header and command[0].startswith("g++"):
            continue  # It has coroutines, which that one refuses.
        copy = folder / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(f"#include <{header}>\n", encoding="utf-8")
        subprocess.run([*command, "-x", "c++-header", "-o", f"{copy}.gch", str(copy)], check=True)


def precompiled(folder, text):
    """The options by which a file takes the header that it includes from there."""
    for header in HEADERS:
        copy = folder / header
        if f"<{header}>" in text and Path(f"{copy}.gch").is_file():
            return ["-include", str(copy)]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--precompiled", type=Path, required=True)
    parser.add_argument("file", type=Path, nargs="?", help="without it the headers are precompiled")
    options = parser.parse_args()
    command = [options.compiler, "-std=c++23", "-Wall", "-Wextra", "-Werror",
               *(f"-I{folder}" for folder in options.include)]
    if not options.file:
        precompile(command, options.precompiled)
        return
    lines = options.file.read_text(encoding="utf-8").splitlines()
    comment = itertools.takewhile(lambda line: line.startswith("// "), lines)
    text = " ".join(line.removeprefix("// ") for line in comment).removeprefix("expect: ")
    expected, _, only = text.partition(" only: ")
    if only and only != options.compiler:
        print(f"for {only} alone")
        return
    command += ["-fsyntax-only", *precompiled(options.precompiled, "\n".join(lines)),
                str(options.file)]
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
