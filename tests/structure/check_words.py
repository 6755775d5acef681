#!/usr/bin/env python3
"""Checks that pages and texts which users read say who does what, in plain English.

`whoever`, `nobody` and their like hide who is meant, and "X is no Y" is not idiomatic. Of pages, what
is quoted (code, fences, comments) is not looked at, and neither are the decision records. Of sources,
the string literals are: errors, log lines, `--help`. SQL's own comments in them are not. Of their
comments, whether they say who.
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
LITERAL = re.compile(r'R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
# Past what only looks like one, inside a literal.
REAL_COMMENT = re.compile(LITERAL.pattern + r"|'(?:\\.|[^'\\\n])'|(?P<comment>//[^\n]*)", re.DOTALL)
# "There is no x" is what the second rule asks for.
THERE = re.compile(r"\bthere\s+\Z", re.IGNORECASE)


def texts(source):
    """[(offset, text)] of a source's string literals; those that the compiler joins are one."""
    source = COMMENT.sub(lambda found: " " * len(found.group()), source)
    found, end = [], None
    for literal in LITERAL.finditer(source):
        text = literal[2] if literal[2] is not None else literal[3]
        text = re.sub(r"--[^\n]*", "", text) if literal[2] is not None else text
        if end is not None and not source[end:literal.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((literal.start(), text))
        end = literal.end()
    return found


def comments(source):
    """[(offset, text)] of a source's comments, line by line."""
    return [(found.start(), found["comment"]) for found in REAL_COMMENT.finditer(source)
            if found["comment"]]


def check_sources(root, report):
    sources = [path for path in project_files(root)
               if path.suffix in {".cpp", ".hpp"} and path.parts[0] in {"src", "include"}]
    for path in sources:
        source = read(root / path)
        looked_at = [("text", text, WORDS) for text in texts(source)]
        looked_at += [("comment", text, WORDS[:1]) for text in comments(source)]
        for kind, (offset, text), words in looked_at:
            for pattern, instead in words:
                for found in re.finditer(pattern, text, re.IGNORECASE):
                    if not THERE.search(text[:found.start()]):
                        report.add(path.as_posix(), line_of(source, offset),
                                   f"a {kind} with `{' '.join(found.group().split())}`", instead)
    return len(sources)


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
    sources = check_sources(root, report)
    return report.finish(f"{len(pages)} pages and the texts and comments of {sources} sources "
                         "are in plain words")


if __name__ == "__main__":
    main(check)
