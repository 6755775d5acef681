#!/usr/bin/env python3
"""Checks that the version is said in the file VERSION and in no other source."""

import re

from common import CPP, Report, arguments, line_of, main, project_files, read

FORM = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?")
SUFFIXES = CPP | {".in", ".cmake", ".txt", ".py", ".sh", ".toml", ".service", ".yml"}


def check():
    root = arguments(__doc__).parse_args().root
    report = Report()
    version = read(root / "VERSION").strip() if (root / "VERSION").is_file() else ""
    if not FORM.fullmatch(version):
        report.add("VERSION", 1, f"'{version}' is not a version", "write 1.2.0, or 1.2.0-preview.1")
        return report.finish("")
    again = re.compile(rf"(?<![\w.]){re.escape(version)}(?![\w.-])")
    for path in project_files(root):
        if path.suffix not in SUFFIXES and path.parts[0] not in {"run", "test", "packaging"}:
            continue
        text = read(root / path)
        for found in again.finditer(text):
            report.add(path.as_posix(), line_of(text, found.start()),
                       f"the version {version} stands here a second time",
                       "take it from VERSION; a test that wants any version writes another")
    return report.finish(f"{version} is said in one place")


if __name__ == "__main__":
    main(check)
