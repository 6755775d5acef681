#!/usr/bin/env python3
"""Checks links between pages, and that snippets equal the code they come from and wait for locks.

`<!-- from: examples/1_hello/main.cpp -->` before a fence promises the whole file,
`<!-- from: examples/1_hello/main.cpp#send -->` what lies between `// [send]` and `// [/send]`.
"""

import re
import textwrap
from urllib.parse import unquote

from common import Report, arguments, line_of, main, project_files, read

FENCE = re.compile(r"^(?P<indent>[ ]{0,3})(?P<mark>```+|~~~+)(?P<info>[^\n]*)\n(?P<body>.*?)"
                   r"^[ ]{0,3}(?P=mark)[ \t]*$", re.MULTILINE | re.DOTALL)
FROM = re.compile(r"<!--\s*from:\s*(?P<path>[^\s#]+)(?:#(?P<region>[\w-]+))?\s*-->[ \t]*\n\s*\Z")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?(?P<to>[^)\s>]+)>?(?:\s+[\"'][^)]*)?\)"
                  r"|^[ ]{0,3}\[[^\]]+\]:\s*<?(?P<defined>[^\s>]+)"
                  r"|<(?:a|img)\b[^>]*?(?:href|src)=\"(?P<html>[^\"]+)\"", re.MULTILINE)
HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
SET_ANCHOR = re.compile(r"<a\s[^>]*?(?:name|id)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def prose(text):
    """The page without what is shown verbatim; every line stays."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)|<!--.*?-->", blank, FENCE.sub(blank, text),
                  flags=re.DOTALL)


def anchors(text):
    """What a link may name after #: headings as GitHub spells them, and anchors set by hand."""
    text = FENCE.sub(blank, text)
    found = set(SET_ANCHOR.findall(text))
    counts = {}
    for heading in HEADING.findall(text):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        counts[slug] = counts.get(slug, -1) + 1
        found.add(f"{slug}-{counts[slug]}" if counts[slug] else slug)
    return found


def check_links(report, root, page, text):
    visible = prose(text)
    for found in LINK.finditer(visible):
        to = found["to"] or found["defined"] or found["html"]
        if ELSEWHERE.match(to):
            continue
        line = line_of(visible, found.start())
        path, _, anchor = unquote(to).partition("#")
        base = root if path.startswith("/") else (root / page).parent
        target = (base / path.lstrip("/")).resolve() if path else root / page
        if not target.exists() or not target.is_relative_to(root.resolve()):
            report.add(page, line, f"the link {to} leads nowhere",
                       "correct the path, or write the page")
        elif anchor and target.suffix == ".md" and anchor not in anchors(read(target)):
            report.add(page, line, f"the link {to} names no heading there",
                       f"use one of: {', '.join(sorted(anchors(read(target)))[:8])}")


def source_of(path, region):
    """The promised text, or None if the region is not there."""
    text = read(path)
    if region is None:
        return text
    name = re.escape(region)
    found = re.search(rf"^[ \t]*(?://|#|--) \[{name}\][^\n]*\n(.*?)^[ \t]*(?://|#|--) \[/{name}\]",
                      text,
                      re.MULTILINE | re.DOTALL)
    return textwrap.dedent(found[1]) if found else None


def waits_for_locks(code):
    """Whether what writes a SQLite file beside a node says how long it waits for the node's lock."""
    changes = re.search(r"(?<!EXPLAIN )\b(INSERT INTO|UPDATE|DELETE FROM)\b", code)
    opens = re.search(r"^(?!\s*(#|//)).*\bsqlite3 |sqlite3\.connect\(|sqlite3_open", code,
                      re.MULTILINE)
    inserts = re.search(r"^(INSERT INTO|UPDATE|DELETE FROM) (outbox_|inbox_|workflow_|posthorn_queue)",
                        code, re.MULTILINE)
    runs_in_node = re.search(r"\bsql:", code)
    if not changes or runs_in_node or not (opens or inserts):
        return True
    return re.search(r"\.timeout \d|busy_timeout|\btimeout=\d", code) is not None


def check_locks(report, name, text, fences):
    for start, code in fences:
        if not waits_for_locks(code):
            report.add(name, line_of(text, start), "it writes a database beside a node, and fails "
                       "with 'database is locked' when the node is at work",
                       "add `.timeout 5000` for the sqlite3 shell, `PRAGMA busy_timeout = 5000`, "
                       "sqlite3_busy_timeout, or `timeout=5` in Python")


def check_snippets(report, root, page, text):
    for fence in FENCE.finditer(text):
        origin = FROM.search(text, 0, fence.start())
        if not origin:
            continue
        line = line_of(text, fence.start())
        name = origin["path"] + (f"#{origin['region']}" if origin["region"] else "")
        path = root / origin["path"]
        wanted = source_of(path, origin["region"]) if path.is_file() else None
        if wanted is None:
            report.add(page, line, f"the snippet comes from {name}, which is not there",
                       "correct the name, or mark the region with // [name] and // [/name]")
            continue
        wanted_lines, lines = wanted.strip("\n").split("\n"), fence["body"].strip("\n").split("\n")
        if wanted_lines != lines:
            at = next((i for i, (a, b) in enumerate(zip(wanted_lines, lines)) if a != b),
                      min(len(wanted_lines), len(lines)))
            right = wanted_lines[at].strip() if at < len(wanted_lines) else "it ends here"
            report.add(page, line + 1 + at, f"the snippet differs from {name}",
                       f"copy the code anew: {right}")


def check():
    root = arguments(__doc__.splitlines()[0]).parse_args().root
    report = Report()
    pages = [path for path in project_files(root) if path.suffix == ".md"]
    for page in pages:
        text = read(root / page)
        check_links(report, root, page.as_posix(), text)
        check_snippets(report, root, page.as_posix(), text)
        check_locks(report, page.as_posix(), text,
                    [(fence.start(), fence["body"]) for fence in FENCE.finditer(text)
                     if not FROM.search(text, 0, fence.start())])
    for path in project_files(root):
        if path.parts[0] == "examples" and path.suffix in {".sh", ".py", ".cpp"}:
            text = read(root / path)
            check_locks(report, path.as_posix(), text, [(0, text)])
    return report.finish(f"links and snippets of {len(pages)} pages hold")


if __name__ == "__main__":
    main(check)
