#!/usr/bin/env python3
"""Checks that each error code has its line in the catalogue and its page, and nothing more."""

import re

from common import Report, arguments, code_only, line_of, main, read

ENUM = "include/posthorn/error.hpp"
CATALOGUE = "src/base/error.cpp"
PAGES = "docs/reference/errors"


def codes(text):
    """name -> line of each enumerator of error_code."""
    code = code_only(text)
    body = re.search(r"enum\s+class\s+error_code\b[^{;]*\{([^}]*)\}", code)
    if not body:
        return {}
    return {found[1]: line_of(code, body.start(1) + found.start(1))
            for found in re.finditer(r"(?:^|,)\s*(\w+)", body[1])}


def catalogue(text):
    """[(line, code, name)] of each entry: error_info{code, "name", ...}."""
    entry = re.compile(r'error_info\{\s*(?:error_code::)?(\w+)\s*,\s*"([^"]*)"')
    return [(line_of(text, found.start()), found[1], found[2]) for found in entry.finditer(text)]


def check():
    root = arguments(__doc__).parse_args().root
    report = Report()
    known = codes(read(root / ENUM))
    if not known:
        report.add(ENUM, 1, "no `enum class error_code` found",
                   "declare it, or mend check_errors.py")
    entries = catalogue(read(root / CATALOGUE))
    listed = {code for _, code, _ in entries}
    for name, line in known.items():
        if name not in listed:
            report.add(ENUM, line, f"error_code::{name} is not in {CATALOGUE}",
                       f'add error_info{{{name}, "{name}", "..."}} at its place')
        if not (root / PAGES / f"{name}.md").is_file():
            report.add(ENUM, line, f"error_code::{name} has no page",
                       f"write {PAGES}/{name}.md: what happened, why, what to do")
    for line, code, name in entries:
        if code != name:
            report.add(CATALOGUE, line, f'{code} is called "{name}"', "give both the same name")
    for page in sorted((root / PAGES).glob("*.md")):
        if page.name != "README.md" and page.stem not in known:
            report.add(f"{PAGES}/{page.name}", 1, "a page for a code that does not exist",
                       f"delete it, or rename it after a code of {ENUM}")
    return report.finish(f"{len(known)} error codes are listed and documented")


if __name__ == "__main__":
    main(check)
