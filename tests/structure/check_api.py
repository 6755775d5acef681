#!/usr/bin/env python3
"""Checks that docs/reference/cpp-api.md names everything in the public headers, and nothing else.

Public is what <posthorn/posthorn.hpp>, async.hpp, own_stores.hpp, workflow.hpp and flow_test.hpp
bring, outside of `detail`: types and their public members, functions, constants, and macros with a
`///` comment.
"""

import re

from common import Report, arguments, line_of, main, read

PAGE = "docs/reference/cpp-api.md"
ENTRY = ["posthorn.hpp", "async.hpp", "own_stores.hpp", "workflow.hpp", "flow_test.hpp"]
# What these hold is in `namespace posthorn`, though their folder says that one includes them through
# others.
WITH_TYPES = {"detail/health.hpp", "detail/pluggable.hpp", "detail/sql.hpp", "detail/time.hpp",
              "workflow/core.hpp"}
TYPE = re.compile(r"\b(class|struct|enum class)\s+(\w+)[^;{}()]*\{")
NAMED = re.compile(r"\b(?:using|concept)\s+(\w+)\s*=|\binline constexpr [^=;(]*?\b(\w+)(?:<\w+>)?\s*=")
FUNCTION = re.compile(r"\b(?!operator\b)([a-z]\w+)\s*\((?!\s*\*)")
FIELD = re.compile(r"\b(\w+)\s*(?:=[^;]*|\{[^;]*\})?;")
MACRO = re.compile(r"^///[^\n]*\n#define (\w+)\(", re.MULTILINE)
NOT_NAMES = {"requires", "decltype", "sizeof", "noexcept", "static_assert", "if", "return", "const",
             "constexpr", "default", "delete", "override", "final", "explicit"}


def public_headers(root):
    """What the entries include, themselves, and the types that lie in detail/."""
    folder = root / "include/posthorn"
    found = set(WITH_TYPES)
    for entry in ENTRY:
        found.add(entry)
        for name in re.findall(r"#include <posthorn/((?:workflow/)?\w+\.hpp)>", read(folder / entry)):
            found.add(name)
    return sorted(name for name in found if (folder / name).is_file())


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    text = re.sub(r"(?<!\w)'(?:[^'\\\n]|\\.)'", "''", text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", "", text, flags=re.MULTILINE)


def closing(text, start):
    """Where the brace at `start` is closed."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def blocks(text):
    """Statements and blocks at the top of a text: (head, body or None)."""
    at = 0
    while at < len(text):
        found = re.search(r"[;{]", text[at:])
        if not found:
            return
        end = at + found.start()
        if text[end] == ";":
            yield text[at:end + 1], None
            at = end + 1
            continue
        close = closing(text, end)
        yield text[at:end], text[end + 1:close]
        at = close + 1
        while at < len(text) and text[at] in " \n;":
            at += 1


def names_in_type(kind, body):
    if kind == "enum class":
        return set(re.findall(r"\b(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip()))
    names, public = set(), kind == "struct"
    for head, inner in blocks(body):
        for label in re.findall(r"\b(public|protected|private):", head):
            public = label == "public"
        head = re.sub(r"\b(public|protected|private):", "", head)
        if not public or "friend " in head or "operator" in head or "~" in head:
            continue
        names |= names_of(head, inner)
    return names


def bare(head):
    """A declaration without attributes, template parameters, constraints and template arguments."""
    head = re.sub(r"\[\[\w+(?:\(\s*\"\"\s*\))?\]\]", " ", head)
    head = re.sub(r"\brequires\s*\((?:[^()]|\([^()]*\))*\)", " ", head)
    head = re.sub(r"<=>|->", " ", head)
    while (fewer := re.sub(r"<[^<>]*>", "", head)) != head:
        head = fewer
    return re.sub(r"\btemplate\b", " ", head)


def names_of(head, inner):
    """The names that a declaration at the top of a namespace or of a type brings."""
    head = bare(head)
    if inner is not None and (typed := TYPE.search(head + "{")):
        return {typed[2]} | names_in_type(typed[1], inner)
    if named := NAMED.search(head):
        return {named[1] or named[2]}
    if re.search(r"\b(using|class|struct|friend)\b", head):
        return set()
    head = re.sub(r"=.*", ";", head, flags=re.DOTALL) if re.match(r"[^(]*=", head) else head
    if function := FUNCTION.search(re.split(r"\s:\s", head)[0]):
        return {function[1]} - NOT_NAMES
    if field := FIELD.search(head if inner is None else head + ";"):
        return {field[1]} - NOT_NAMES
    return set()


def names_in_namespace(text):
    names = set()
    for head, inner in blocks(text):
        if inner is not None and (space := re.search(r"\bnamespace\s+([\w:]+)?\s*$", head)):
            if space[1] and not space[1].endswith("detail"):
                names |= names_in_namespace(inner)
            continue
        is_defined_outside = "(" in head and "=" not in head and re.search(
            r"\w::\w+\s*$", bare(head).split("(")[0])
        if "struct std::" not in head and not is_defined_outside:
            names |= names_of(head, inner)
    return names


def public_names(root):
    """By name, the header that it is in."""
    found = {}
    for name in public_headers(root):
        text = read(root / "include/posthorn" / name)
        for each in names_in_namespace(without_comments(text)):
            found.setdefault(each, name)
    for path in sorted((root / "include/posthorn").rglob("*.hpp")):
        for each in MACRO.findall(read(path)):
            found.setdefault(each, path.relative_to(root / "include/posthorn").as_posix())
    return found


def check():
    root = arguments(__doc__.splitlines()[0]).parse_args().root
    report = Report()
    names = public_names(root)
    page = read(root / PAGE)
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    shown = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", prose))))
    for name, header in sorted(names.items()):
        if name not in shown:
            report.add(PAGE, 1, f"`{name}` of <posthorn/{header}> is not on the page",
                       "say in a line what it is for")
    for found in re.finditer(r"^\| `(?:posthorn::|async::)?(\w+)", page, re.MULTILINE):
        if found[1] not in names:
            report.add(PAGE, line_of(page, found.start()), f"`{found[1]}` is in no public header",
                       "remove it, or correct the name")
    return report.finish(f"{len(names)} public names are on the page")


if __name__ == "__main__":
    main(check)
