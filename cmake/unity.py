#!/usr/bin/env python3
"""Groups the sources of a target into files that include several of them, to be compiled at once.

    unity.py ROOT OUT_FOLDER NAME FILES_MAX SOURCE...

Prints the groups' files, which include the sources by their paths from ROOT, so that a compiler cache
knows them in every checkout. A name that a source keeps to itself (in an unnamed namespace, or as a
macro) must not be written in another source of its group: so no source can tell that it is compiled
together with others, and names need not be chosen with this in mind.
"""

import re
import sys
from pathlib import Path

# A member that is reached through an object is not another source's name.
WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                   re.DOTALL)
DECLARED = [
    re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE),
    re.compile(r"\b(?:struct|class|enum class|enum|union|concept)\s+(\w+)\b(?!\s*[&*;>,)(])"),
    re.compile(r"\busing\s+(\w+)\s*="),
    # A function or a variable: a name before ( { [ = or ; that another word, * or & comes before.
    re.compile(r"[\w>*&\]]\s*[ *&](\w+)\s*(?=[({\[=;])"),
]
# Every source may have this one, as long as it stands for the same.
ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*([\w:]+)\s*;")
BASE = re.compile(r"\b(?:public|protected|private)\s+[\w:]+")
KEYWORDS = {"return", "if", "while", "for", "switch", "co_return", "co_await", "operator", "const",
            "noexcept", "requires", "sizeof", "override", "final", "default", "delete", "auto"}


def unnamed(code):
    """The text inside unnamed namespaces, at its top level: bodies of functions and classes are out."""
    kept = []
    for start in re.finditer(r"\bnamespace\s*\{", code):
        depth, at = 1, start.end()
        while depth and at < len(code):
            if code[at] == "{":
                depth += 1
                if depth == 2:
                    kept.append("{")
            elif code[at] == "}":
                depth -= 1
                if depth == 1:
                    kept.append("}\n")
            elif depth == 1:
                kept.append(code[at])
            at += 1
    return "".join(kept)


def names(text):
    """(the names that the source keeps to itself, all words in it, its aliases of namespaces)"""
    code = NOISE.sub(" ", text)
    words, aliases = set(WORD.findall(code)), dict(ALIAS.findall(code))
    code = ALIAS.sub(" ", code)
    own = set(DECLARED[0].findall(code))
    inside = BASE.sub(" ", unnamed(code))
    for pattern in DECLARED[1:]:
        own.update(pattern.findall(inside))
    return own - KEYWORDS, words, aliases


def group(sources, most):
    groups = []  # [own names, all words, aliases, sources]
    for source in sources:
        own, words, aliases = names(Path(source).read_text(encoding="utf-8"))
        for each in groups:
            if (len(each[3]) < most and not (own & each[1]) and not (words & each[0]) and
                    all(each[2].get(name, what) == what for name, what in aliases.items())):
                break
        else:
            each = [set(), set(), {}, []]
            groups.append(each)
        each[0] |= own
        each[1] |= words
        each[2].update(aliases)
        each[3].append(source)
    return [each[3] for each in groups]


def main(root, folder, name, most, *sources):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for number, members in enumerate(group(sources, int(most))):
        if len(members) == 1:
            print(members[0])
            continue
        file = Path(folder) / f"{name}_{number}.cpp"
        text = "".join(f'#include "{Path(member).relative_to(root)}"\n' for member in members)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
        print(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
