#!/usr/bin/env python3
"""Checks that pages which users read say who does what, in plain English.

`whoever`, `nobody` and their like hide who is meant, and "X is no Y" is not idiomatic. What is
quoted (code, fences, comments) is not looked at, and neither are the decision records.
"""

import re

from check_docs import prose
from common import Report, arguments, line_of, main, project_files, read

PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
WORDS = [
    (r"\b(?:who(?:m)?ever|(?:some|no|any|every)body)(?:'s)?\b",
     "say who: a caller, an operator, another process; or say `no other …`, `every …`"),
    (r"\b(?:is|are|was|were)\s+no\s+(?!longer\b|more\b|less\b|other\b|such\b|need\b|way\b|room\b|later\b|earlier\b)"
     r"(?:[a-z]+)\b",
     "write `is not a …`, or `there is no …`"),
]
# "There is no x" is what the second rule asks for.
THERE = re.compile(r"\bthere\s+\Z", re.IGNORECASE)


def check():
    root = arguments(__doc__.splitlines()[0]).parse_args().root
    report = Report()
    pages = [path for path in project_files(root) if path.suffix == ".md"
             and (path.as_posix() in PAGES or path.parts[0] in {"docs", "bench", "examples"})
             and path.parts[:2] != ("docs", "adr")]
    for page in pages:
        visible = prose(read(root / page))
        for pattern, instead in WORDS:
            for found in re.finditer(pattern, visible, re.IGNORECASE):
                if not THERE.search(visible[:found.start()]):
                    report.add(page.as_posix(), line_of(visible, found.start()),
                               f"`{' '.join(found.group().split())}`", instead)
    return report.finish(f"{len(pages)} pages are in plain words")


if __name__ == "__main__":
    main(check)
