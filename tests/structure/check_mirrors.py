#!/usr/bin/env python3
"""Checks that the two stores do not say the same twice: a rule stands in one place, for both.

A file that stands in both stores' folders, at the same path, is compared with its twin, line by line
and in order, without comments, includes and the insides of literals. What is the same in both belongs
into a room that both may use: a statement that both ask into `store/statements`, by one name and with
its text on each, what they do alike into `store/rules`, `store/rows` or `store/commit`.

There are two limits, which only go down: one for all lines, and one for those that tell something. A
brace, a label, a namespace, and a name for an SQL text are the same in any two classes of this kind:
of two headers of the stores that have nothing to do with each other one line in seven is the same, of
two sources one in thirteen. What tells something and is still the same are mostly signatures, of an
interface that both implement.
"""

import re
from difflib import SequenceMatcher

from common import CPP, Report, arguments, code_only, main, project_files, read

STORES = ("src/store/sqlite", "src/store/postgres")
SAME_PERCENT_MAX = 18.5
TELLING_PERCENT_MAX = 9.0
LITERAL = re.compile(r'\bR\s+"|"\s*"')  # As `code_only` leaves them: raw, and others.
INCLUDE = re.compile(r"\s*#\s*include\b")
TELLS_NOTHING = re.compile(r"""
      \W*
    | \#pragma\ once
    | (?:public|private|protected):
    | namespace\b.*
    | \{*\.\w+\ =\ (?:\w+|"")\W*         # .name = "" or .name = a_text
    | \w+\(database,\ (?:\w+|"")\)\W*  # name_(database, "")
    """, re.VERBOSE)


def lines_of(path):
    """What a file says in C++; SQL is each store's own."""
    code = LITERAL.sub('""', code_only(read(path)))
    return [line.strip() for line in code.splitlines() if line.strip() and not INCLUDE.match(line)]


def telling(lines):
    return [line for line in lines if not TELLS_NOTHING.fullmatch(line)]


def twins(root):
    """The paths that both stores have, below their folders."""
    names = [{path.relative_to(store) for path in project_files(root)
              if path.suffix in CPP and path.is_relative_to(store)} for store in STORES]
    return sorted(names[0] & names[1])


def same_lines(one, other):
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


class Sum:
    """How much is the same over all pairs, and which pair has the most of it."""

    def __init__(self):
        self.same = self.all = 0
        self.pairs = []

    def add(self, name, one, other):
        same = same_lines(one, other)
        self.same += 2 * same
        self.all += len(one) + len(other)
        self.pairs.append((same, len(one), len(other), name))

    def percent(self):
        return 100 * self.same / self.all if self.all else 0.0


def check():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="tell of each pair, the worst first")
    options = parser.parse_args()
    all_lines, those_that_tell = Sum(), Sum()
    for name in twins(options.root):
        one, other = (lines_of(options.root / store / name) for store in STORES)
        all_lines.add(name.as_posix(), one, other)
        those_that_tell.add(name.as_posix(), telling(one), telling(other))
    if options.list:
        for same, one, other, name in sorted(those_that_tell.pairs, reverse=True):
            print(f"{same:4} of {one:4} and {other:4}: {name}")
    report = Report()
    for found, limit, what in ((all_lines, SAME_PERCENT_MAX, "mirrored lines"),
                               (those_that_tell, TELLING_PERCENT_MAX, "lines that tell something")):
        if found.percent() > limit:
            same, one, _, name = max(found.pairs)
            report.add(f"{STORES[0]}/{name}", 1,
                       f"{found.percent():.1f} % of the stores' {what} are the same, more than"
                       f" {limit} %, and {same} of {one} here",
                       "move what is one rule to where both stores have it from")
    return report.finish(f"{all_lines.percent():.1f} % of {all_lines.all} mirrored lines in"
                         f" {len(all_lines.pairs)} pairs are the same,"
                         f" {those_that_tell.percent():.1f} % of those that tell something")


if __name__ == "__main__":
    main(check)
