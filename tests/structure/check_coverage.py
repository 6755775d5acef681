#!/usr/bin/env python3
"""Checks that docs/reference/coverage.md lists every capability once, with tests that exist.

A row reads `| A1 | what it is | shown by |`. The last cell says `not yet` or lists back-quoted
tests, separated by commas: `suite.name` for GoogleTest, `ctest:name` for a CTest test so called.
"""

import re
import subprocess
from pathlib import Path

from common import Report, arguments, main, read

PAGE = "docs/reference/coverage.md"
NUMBERS = {"A": 46, "B": 39, "C": 31, "D": 13, "E": 27}

ROW = re.compile(r"\|\s*\**([A-Z]\d+)\**\s*\|")
CELL_BORDER = re.compile(r"(?<!\\)\|")
TESTS = re.compile(r"`[^`]+`(?:\s*,\s*`[^`]+`)*")
CTEST_LINE = re.compile(r"^\s*Test\s+#\d+: (.*?)\s*$", re.MULTILINE)


def ctest_listing(build):
    run = subprocess.run(["ctest", "--test-dir", str(build), "-N"], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{build}: ctest -N failed; configure and build first\n{run.stderr}")
    return run.stdout


def names_of(listing):
    """The names a row may use: each test's own, and for a parameterised one its claim's."""
    own = CTEST_LINE.findall(listing) or listing.split("\n")
    own = {name.strip() for name in own if name.strip() and not name.endswith("(Disabled)")}
    claims = set()
    for name in own:  # prefix/suite.claim/parameter, or suite/type.claim
        suites, dot, claim = name.partition(".")
        claims |= {f"{suite}.{claim.split('/')[0]}" for suite in suites.split("/") if dot}
    return own, claims


def check_cell(report, line, number, cell, own, claims):
    if cell == "not yet":
        return
    if not TESTS.fullmatch(cell):
        report.add(PAGE, line, f"{number} is shown by neither `not yet` nor a list of tests",
                   "write: not yet, or back-quoted test names separated by commas")
        return
    for name in re.findall(r"`([^`]+)`", cell):
        is_ctest = name.startswith("ctest:")
        known = name[len("ctest:"):] in own if is_ctest else "." in name and name in own | claims
        if not known:
            report.add(PAGE, line, f"{number} names `{name}`, which no test is called",
                       "write that test, correct the name (ctest -N lists them), or say: not yet")


def check():
    parser = arguments(__doc__.splitlines()[0])
    tests = parser.add_mutually_exclusive_group(required=True)
    tests.add_argument("--tests-file", type=Path, help="a file with a test name a line")
    tests.add_argument("--ctest-dir", type=Path, help="the build folder whose tests count")
    options = parser.parse_args()
    report = Report()
    page = options.root / PAGE
    if not page.is_file():
        report.add(PAGE, 1, "the page is missing",
                   "list every capability with the test that shows it")
        return report.finish("")
    listing = read(options.tests_file) if options.tests_file else ctest_listing(options.ctest_dir)
    own, claims = names_of(listing)

    wanted = [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]
    seen = {}
    shown = 0
    lines = read(page).splitlines()
    for line, text in enumerate(lines, 1):
        row = ROW.match(text)
        if not row:
            continue
        number = row[1]
        cells = [cell.strip() for cell in CELL_BORDER.split(text.strip().strip("|"))]
        if number not in wanted:
            report.add(PAGE, line, f"{number} is not a known capability", "correct the number")
        elif number in seen:
            report.add(PAGE, line, f"{number} is listed twice, first in line {seen[number]}",
                       "keep one row, with the tests of both")
        seen.setdefault(number, line)
        if len(cells) != 3:
            report.add(PAGE, line, f"{number} has {len(cells)} cells",
                       "write | number | text | shown by |, and \\| for a bar in the text")
            continue
        check_cell(report, line, number, cells[2], own, claims)
        shown += cells[2] != "not yet"
    for number in wanted:
        if number not in seen:
            report.add(PAGE, len(lines) or 1, f"{number} is missing",
                       f"add | {number} | what it is | not yet |")
    return report.finish(f"{len(wanted)} capabilities are listed, {shown} shown by tests")


if __name__ == "__main__":
    main(check)
