#!/usr/bin/env python3
"""Checks that docs/reference/coverage.md lists every capability once, with tests that exist.

A row reads `| A1 | what it is | shown by |`. The last cell says `not yet`, lists back-quoted tests
separated by commas (`suite.name` for GoogleTest, `ctest:name` for a CTest test so called), or says
`partly: ` and lists such tests. What is missing of a row that is partly shown stands in a line
`- A1: what is missing` on the same page. A test that may skip itself shows nothing.
"""

import json
import re
import subprocess
from pathlib import Path

from common import Report, arguments, code_only, main, project_files, read

PAGE = "docs/reference/coverage.md"
NUMBERS = {"A": 53, "B": 47, "C": 41, "D": 17, "E": 34}

ROW = re.compile(r"\|\s*\**([A-Z]\d+)\**\s*\|")
MISSING = re.compile(r"- ([A-Z]\d+): \S")
CELL_BORDER = re.compile(r"(?<!\\)\|")
PARTLY = "partly: "
TESTS = re.compile(r"`[^`]+`(?:\s*,\s*`[^`]+`)*")
CTEST_LINE = re.compile(r"^\s*Test\s+#\d+: (.*?)\s*$", re.MULTILINE)

NOT_BUILT = "_NOT_BUILT"  # How CTest calls a program of tests that is not there.
CASE = re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)

# Where a skip may stand: in a test, or in what a fixture does before each of its tests.
SCOPE = re.compile(r"^\s*(?:TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)|(?:class|struct)\s+(\w+))|"
                   r"\b(GTEST_SKIP)\b", re.MULTILINE)


def ctest_listing(build):
    run = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{build}: ctest failed; configure and build first\n{run.stderr}")
    return json.loads(run.stdout)["tests"]


def has(test, *wanted):
    return any(one["name"] in wanted and one["value"] not in (False, "", "0", "OFF", [])
               for one in test.get("properties", ()))


def names_listed(options):
    """(the names of tests, those among them that CTest itself may count as skipped)"""
    if options.tests_file:
        text = read(options.tests_file)
        own = CTEST_LINE.findall(text) or text.split("\n")
        return {name.strip() for name in own if name.strip() and not name.endswith("(Disabled)")}, set()
    tests = [test for test in ctest_listing(options.ctest_dir) if not has(test, "DISABLED")]
    if any(test["name"].endswith(NOT_BUILT) for test in tests):
        tests += [{"name": name} for name in names_in_sources(options.root)]
    # Every GoogleTest case can be skipped as far as CTest knows; those are told by their sources.
    may_skip = {test["name"] for test in tests
                if has(test, "SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE")}
    return {test["name"] for test in tests}, may_skip


def names_in_sources(root):
    """The GoogleTest cases of tests that this build leaves to another one, by their sources."""
    return {f"{suite}.{claim}" for path in project_files(root)
            if path.parts[0] == "tests" and path.suffix == ".cpp"
            for suite, claim in CASE.findall(code_only(read(root / path)))}


def claims_of(own):
    """The names a row may use beside each test's own: for a parameterised one its claim's."""
    claims = set()
    for name in own:  # prefix/suite.claim/parameter, or suite/type.claim
        suites, dot, claim = name.partition(".")
        claims |= {f"{suite}.{claim.split('/')[0]}" for suite in suites.split("/") if dot}
    return claims


def skipping(root):
    """(tests, suites) that may skip themselves: `suite.claim`, and fixtures that do it for all."""
    tests, suites = set(), set()
    for path in project_files(root):
        if path.parts[0] != "tests" or path.suffix not in (".cpp", ".hpp"):
            continue
        text = read(root / path)
        if "GTEST_SKIP" not in text:
            continue
        scope = None
        for found in SCOPE.finditer(code_only(text)):
            suite, claim, fixture, skip = found.groups()
            if not skip:
                scope = (suite, claim) if suite else (fixture, None)
            elif scope and scope[1]:
                tests.add(f"{scope[0]}.{scope[1]}")
            elif scope:
                suites.add(scope[0])
    return tests, suites


class Known:
    """What a row may name."""

    def __init__(self, options):
        self.own, self.ctest_skips = names_listed(options)
        self.claims = claims_of(self.own)
        self.skips, self.skipping_suites = skipping(options.root)

    def exists(self, name):
        if name.startswith("ctest:"):
            return name[len("ctest:"):] in self.own
        return "." in name and name in self.own | self.claims

    def may_skip(self, name):
        if name.startswith("ctest:"):
            return name[len("ctest:"):] in self.ctest_skips
        return name in self.skips or name.partition(".")[0] in self.skipping_suites


def check_cell(report, line, number, cell, known):
    tests = cell.removeprefix(PARTLY)
    if cell == "not yet":
        return
    if not TESTS.fullmatch(tests):
        report.add(PAGE, line, f"{number} is shown by neither `not yet` nor a list of tests",
                   "write: not yet, or back-quoted test names separated by commas, after `partly: ` "
                   "where they show a part")
        return
    for name in re.findall(r"`([^`]+)`", tests):
        if not known.exists(name):
            report.add(PAGE, line, f"{number} names `{name}`, which no test is called",
                       "write that test, correct the name (ctest -N lists them), or say: not yet")
        elif known.may_skip(name):
            report.add(PAGE, line, f"{number} names `{name}`, which may skip itself",
                       "name one that always runs: a test that was skipped has shown nothing")


def check_missing(report, lines, partly):
    """Each row that is partly shown has its line about what is missing, and no other row has one."""
    said = {}
    for line, text in enumerate(lines, 1):
        found = MISSING.match(text)
        if not found:
            continue
        if found[1] in said or found[1] not in partly:
            report.add(PAGE, line, f"{found[1]} has a line of what is missing too many",
                       "keep one line for each row that is partly shown")
        said[found[1]] = line
    for number, line in partly.items():
        if number not in said:
            report.add(PAGE, line, f"{number} is partly shown, and nothing says what is missing",
                       f"add the line: - {number}: what is missing")


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
    known = Known(options)

    wanted = [f"{letter}{n}" for letter, count in NUMBERS.items() for n in range(1, count + 1)]
    seen, partly = {}, {}
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
        check_cell(report, line, number, cells[2], known)
        if cells[2].startswith(PARTLY):
            partly[number] = line
        else:
            shown += cells[2] != "not yet"
    for number in wanted:
        if number not in seen:
            report.add(PAGE, len(lines) or 1, f"{number} is missing",
                       f"add | {number} | what it is | not yet |")
    check_missing(report, lines, partly)
    return report.finish(f"{len(wanted)} capabilities are listed, {shown} shown by tests, "
                         f"{len(partly)} partly")


if __name__ == "__main__":
    main(check)
