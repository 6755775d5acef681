#!/usr/bin/env python3
"""Checks that prose wraps at 100 columns, so that a change of it can be read line by line.

Tables, fences, comments, headings, link definitions, and lines that cannot be broken are exempt.
"""

import re

from check_docs import FENCE, blank
from common import Report, arguments, main, project_files, read

COLUMNS_MAX = 100
EXEMPT = re.compile(r"\s*(?:\||#|\[[^\]]+\]:|<|>?\s*$)")
MARK = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ x]\]\s+)?")
# What stays on one line: a code span, and everything else without a space.
TOKEN = re.compile(r"(?:(`+)(?!`).+?(?<!`)\1(?!`)|\S)+")


def is_too_long(line):
    if len(line) <= COLUMNS_MAX or EXEMPT.match(line):
        return False
    return len(list(TOKEN.finditer(line, MARK.match(line).end()))) > 1


def check():
    root = arguments(__doc__.splitlines()[0]).parse_args().root
    report = Report()
    pages = [path for path in project_files(root) if path.suffix == ".md"]
    for page in pages:
        visible = re.sub(r"<!--.*?-->", blank, FENCE.sub(blank, read(root / page)), flags=re.DOTALL)
        for number, line in enumerate(visible.splitlines(), 1):
            if is_too_long(line):
                report.add(page.as_posix(), number, f"a line of {len(line)} columns",
                           f"wrap prose at {COLUMNS_MAX}")
    return report.finish(f"{len(pages)} pages wrap at {COLUMNS_MAX}")


if __name__ == "__main__":
    main(check)
