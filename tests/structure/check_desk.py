#!/usr/bin/env python3
"""Builds web/ anew and compares it with web/dist, byte for byte: what is embedded is what the sources say.

    check_desk.py --modules build/npm-web/node_modules [--root ROOT]
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import shutil
from pathlib import Path

WIRE_MAX = 120_000  # Bytes of all files, compressed.


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def build(web, modules, into):
    """In a copy, so that nothing of the checkout is touched and nothing in it that is not tracked counts."""
    shutil.copytree(web, into, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (into / "node_modules").symlink_to(modules.resolve())
    for words in [["typescript/bin/tsc", "--noEmit"], ["vite/bin/vite.js", "build"]]:
        done = subprocess.run(["node", f"node_modules/{words[0]}", *words[1:]], cwd=into,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"web/ cannot be built:\n{done.stdout}{done.stderr}")
    return files_of(into / "dist")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--modules", type=Path, required=True, help="where the packages of web/ lie")
    options = parser.parse_args()
    if not options.modules.is_dir():
        sys.exit(f"{options.modules} is missing; ./test installs it from npm")
    kept = files_of(options.root / "web" / "dist")
    with tempfile.TemporaryDirectory() as folder:
        made = build(options.root / "web", options.modules, Path(folder) / "web")
    faults = [f"web/dist/{name} differs from what web/ builds"
              for name in sorted(kept.keys() | made.keys()) if kept.get(name) != made.get(name)]
    if faults:
        faults.append("run 'npm ci && npm run build' in web/, and commit web/dist with its sources")
    size = sum(len(gzip.compress(data, 9)) for data in kept.values())
    if size > WIRE_MAX:
        faults.append(f"web/dist is {size} bytes over the wire; at most {WIRE_MAX}")
    if faults:
        sys.exit("\n".join(faults))


main()
