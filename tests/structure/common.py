"""What the structure checks share: finding files, reading C++ without its comments, reporting."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

CPP = {".hpp", ".cpp", ".h", ".cc", ".ipp"}
HEADERS = {".hpp", ".h", ".ipp"}
NOT_OURS = {"build", "node_modules", "__pycache__"}


class Report:
    """Collects violations; each says what is wrong and what to do instead."""

    def __init__(self):
        self.lines = []

    def add(self, file, line, wrong, instead):
        self.lines.append(f"{file}:{line}: {wrong}; {instead}")

    def finish(self, checked):
        """Prints what was found and gives the exit code; `checked` says what passed."""
        for line in self.lines:
            print(line)
        if self.lines:
            print(f"{len(self.lines)} violation(s)")
            return 1
        print(f"ok: {checked}")
        return 0


def arguments(description):
    """A parser with the one option that every check takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="the project's root (default: the checkout this script lies in)")
    return parser


def project_files(root):
    """Every file of the project, relative to `root` and sorted: what Git tracks or would track."""
    found = []
    if (root / ".git").exists():
        git = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                              "--exclude-standard"], capture_output=True, text=True)
        found = [Path(name) for name in git.stdout.split("\0") if name]
    if not found:  # An unpacked archive, or a checkout that Git distrusts.
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if f not in NOT_OURS and not f.startswith(".")]
            found += [(Path(folder) / name).relative_to(root) for name in names]
    return sorted({path for path in found if (root / path).is_file()})


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


# The parts of C++ in which a match would mean nothing. A number comes along because the ' in
# 1'000 opens no character literal.
_OPAQUE = re.compile(r"""
      (?P<number>(?<!\w)\.?\d(?:'?[\w.])*)
    | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    | (?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    """, re.VERBOSE | re.DOTALL)


def code_only(text):
    """C++ with comments and the insides of literals blanked; every offset and line stays."""
    def blank(match):
        found = match.group()
        if match.group("number"):
            return found
        if match.group("comment"):
            return re.sub(r"[^\n]", " ", found)
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]
    return _OPAQUE.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def main(check):
    """Runs `check()` as a script whose output may be cut short by `head`."""
    try:
        sys.exit(check())
    except BrokenPipeError:
        sys.exit(1)
