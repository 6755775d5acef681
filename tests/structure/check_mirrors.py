#!/usr/bin/env python3
"""Checks that the two stores do not say the same twice: a rule stands in one place, for both.

A file that stands in both stores' folders, at the same path, is compared with its twin, line by line
and in order, without comments, includes and the insides of literals. What is the same in both belongs
into a room that both may use (`store/rules`, `store/rows`, `store/commit`); the limit only goes down.
"""

import re
from difflib import SequenceMatcher

from common import CPP, Report, arguments, code_only, main, project_files, read

STORES = ("src/store/sqlite", "src/store/postgres")
SAME_PERCENT_MAX = 28.5
LITERAL = re.compile(r'\bR\s+"|"\s*"')  # As `code_only` leaves them: raw, and others.
INCLUDE = re.compile(r"\s*#\s*include\b")


def lines_of(path):
    """What a file says in C++; SQL is each store's own."""
    code = LITERAL.sub('""', code_only(read(path)))
    return [line.strip() for line in code.splitlines() if line.strip() and not INCLUDE.match(line)]


def twins(root):
    """The paths that both stores have, below their folders."""
    names = [{path.relative_to(store) for path in project_files(root)
              if path.suffix in CPP and path.is_relative_to(store)} for store in STORES]
    return sorted(names[0] & names[1])


def same_lines(one, other):
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks)


def check():
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="tell of each pair, the worst first")
    options = parser.parse_args()
    pairs = []
    for name in twins(options.root):
        one, other = (lines_of(options.root / store / name) for store in STORES)
        pairs.append((same_lines(one, other), len(one), len(other), name.as_posix()))
    pairs.sort(reverse=True)
    if options.list:
        for same, one, other, name in pairs:
            print(f"{same:4} of {one:4} and {other:4}: {name}")
    total = sum(one + other for _, one, other, _ in pairs)
    percent = 100 * sum(2 * same for same, *_ in pairs) / total if total else 0.0
    report = Report()
    if percent > SAME_PERCENT_MAX:
        same, one, _, name = pairs[0]
        report.add(f"{STORES[0]}/{name}", 1,
                   f"{percent:.1f} % of the stores' mirrored lines are the same, more than"
                   f" {SAME_PERCENT_MAX} %, and {same} of {one} here",
                   "move what is one rule to where both stores have it from")
    return report.finish(f"{percent:.1f} % of {total} mirrored lines in {len(pairs)} pairs are the"
                         " same")


if __name__ == "__main__":
    main(check)
