#!/usr/bin/env python3
"""Checks that clang-format would change nothing."""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from common import CPP, Report, arguments, main, project_files

TOOL = "clang-format-19"
FINDING = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: error: ", re.MULTILINE)


def first_findings(root, files):
    """file -> first line that would change."""
    run = subprocess.run([TOOL, "--dry-run", "-Werror", *files], cwd=root, capture_output=True,
                         text=True)
    found = {}
    for finding in FINDING.finditer(run.stderr):
        found.setdefault(finding["file"], int(finding["line"]))
    if run.returncode != 0 and not found:
        raise SystemExit(run.stderr)
    return found


def check():
    root = arguments(__doc__).parse_args().root
    if not shutil.which(TOOL):
        raise SystemExit(f"{TOOL} is not installed; run: apt-get install {TOOL}")
    files = [path.as_posix() for path in project_files(root) if path.suffix in CPP]
    jobs = os.cpu_count() or 1
    shares = [share for share in (files[i::jobs] for i in range(jobs)) if share]
    report = Report()
    with ThreadPoolExecutor(jobs) as pool:
        found = {file: line for share in pool.map(lambda s: first_findings(root, s), shares)
                 for file, line in share.items()}
    for file, line in sorted(found.items()):
        report.add(file, line, "not formatted as .clang-format says", "run the command below")
    code = report.finish(f"{len(files)} files are formatted")
    if found:
        print(f"to mend: {TOOL} -i {' '.join(sorted(found))}")
    return code


if __name__ == "__main__":
    main(check)
