#!/usr/bin/env python3
"""Builds web/ anew and compares it with web/dist and web/dist-portal, byte for byte: what is embedded is what
the sources say.

    check_desk.py --modules build/npm-web/node_modules [--root ROOT]
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import shutil
from pathlib import Path

# Bytes of all files over the wire, compressed, by where they lie.
WIRE_MAX = {"dist": 120_000, "dist-portal": 40_000}
BUILDS = [["typescript/bin/tsc", "--noEmit"], ["vite/bin/vite.js", "build"],
          ["vite/bin/vite.js", "build", "--mode", "portal"]]


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def build(web, modules, into):
    """In a copy, so that nothing of the checkout is touched and nothing in it that is not tracked counts."""
    shutil.copytree(web, into, ignore=shutil.ignore_patterns("node_modules", *WIRE_MAX))
    (into / "node_modules").symlink_to(modules.resolve())
    for words in BUILDS:
        done = subprocess.run(["node", f"node_modules/{words[0]}", *words[1:]], cwd=into,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"web/ cannot be built:\n{done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--modules", type=Path, required=True, help="where the packages of web/ lie")
    options = parser.parse_args()
    if not options.modules.is_dir():
        sys.exit(f"{options.modules} is missing; ./test installs it from npm")
    kept = {name: files_of(options.root / "web" / name) for name in WIRE_MAX}
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "web"
        build(options.root / "web", options.modules, into)
        made = {name: files_of(into / name) for name in WIRE_MAX}
    faults = [f"web/{folder}/{name} differs from what web/ builds" for folder in WIRE_MAX
              for name in sorted(kept[folder].keys() | made[folder].keys())
              if kept[folder].get(name) != made[folder].get(name)]
    if faults:
        faults.append("run 'npm ci && npm run build' in web/, and commit both folders with its sources")
    for folder, limit in WIRE_MAX.items():
        size = sum(len(gzip.compress(data, 9)) for data in kept[folder].values())
        if size > limit:
            faults.append(f"web/{folder} is {size} bytes over the wire; at most {limit}")
    if faults:
        sys.exit("\n".join(faults))


main()
