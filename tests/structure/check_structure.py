#!/usr/bin/env python3
"""Checks that files lie, include and touch the system as rules.py says."""

import fnmatch
import re
from pathlib import PurePosixPath

import rules
from common import CPP, HEADERS, Report, arguments, code_only, line_of, main, project_files, read

FOLDERS = {"include", "src", "tests", "bench", "examples", "tools"}
SCRIPTS = {".py", ".sh"}
ROOT_SCRIPTS = {"run", "test"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?P<open>["<])(?P<path>[^">\n]*)[">]',
                     re.MULTILINE)
# At the margin, where clang-format puts what is not inside a function or a class.
USING_NAMESPACE = re.compile(r"^using\s+namespace\b", re.MULTILINE)
# Spelt so that it does not find itself.
UNNUMBERED = re.compile(r"\bTO[D]O\b(?!\(#\d+\))")
PUBLIC_MAY_INCLUDE = re.compile(r"[a-z_0-9]+|posthorn/.+")


def allowed(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def includes(text, code):
    """(line, path, is_quoted) of each include that is not in a comment or a literal."""
    for found in INCLUDE.finditer(code):
        # The inside of a quoted path is blank in `code`; the offsets lead to it in `text`.
        yield line_of(text, found.start()), text[slice(*found.span("path"))], found["open"] == '"'


def check_public_include(report, file, line, path, quoted):
    if quoted or not PUBLIC_MAY_INCLUDE.fullmatch(path):
        report.add(file, line, f"a public header includes {path}",
                   "include only the standard library and <posthorn/...>; "
                   "forward-declare the rest")


def check_layer(report, file, line, path, quoted):
    """Holds one include of a file in src/, tests/, bench/ or examples/ against the table."""
    top, *rest = PurePosixPath(file).parts
    target = PurePosixPath(path).parts[0] if path else ""
    if top == "src":
        own = rest[0]
        if own not in rules.LAYERS:
            return  # Reported once for the file.
        if quoted and target not in rules.LAYERS:
            report.add(file, line, f'"{path}" is not a path from src/',
                       'write "folder/file.hpp", or <...> for a library')
        may = rules.LAYERS[own] | {own}
        who = f"{own}/"
    else:
        may = rules.OUTSIDE.get(top, set())
        who = f"{top}/"
    if target not in rules.LAYERS or target in may:
        return
    if target == "app":
        report.add(file, line, f"{who} includes {path}, and nobody includes app",
                   "move what both need into a folder below")
    elif top == "examples":
        report.add(file, line, f"an example includes {path}",
                   "use the public headers <posthorn/...>")
    else:
        names = ", ".join(sorted(may - {who[:-1]})) or "no other folder"
        report.add(file, line, f"{who} must not include {path}",
                   f"it may include {names}: put an interface below, or pass the service in")


def room_in(folder, path):
    """The room of a path below a folder: "." if it lies in the folder itself."""
    inner = path[len(folder) + 1:].split("/")
    return inner[0] if len(inner) > 1 else "."


def check_room(report, file, line, path):
    """Holds an include inside one folder of src/ against the order of its rooms."""
    own = file.removeprefix("src/")
    for folder, rooms in rules.ROOMS.items():
        if not (own.startswith(folder + "/") and path.startswith(folder + "/")):
            continue
        here, there = room_in(folder, own), room_in(folder, path)
        for room in (here, there):
            if room not in rooms:
                report.add(file, line, f"{folder}/{room} is not a room that the table knows",
                           "add it to ROOMS in tests/structure/rules.py")
                return
        if rooms.index(there) > rooms.index(here):
            report.add(file, line, f"{folder}/{here} must not include {path}",
                       f"the rooms of {folder} are, lowest first, {', '.join(rooms)}")


def check_folders(report, files):
    counts = {}
    for file in files:
        folder = PurePosixPath(file).parent.as_posix()
        if not allowed(file, rules.FILES_UNCOUNTED):
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > rules.FILES_MAX:
            report.add(folder, 1, f"{count} files, more than {rules.FILES_MAX}",
                       "give the folder rooms")


def check_heavy(report, file, line, path):
    place = file.replace("tests/unit/", "src/", 1) if file.startswith("tests/unit/") else file
    for name, pattern, where, advice in rules.HEAVY:
        if re.fullmatch(pattern, path) and not (allowed(file, where) or allowed(place, where)):
            report.add(file, line, f"{name} is included outside {', '.join(where)}", advice)


def check_seams(report, file, code):
    for what, pattern, where, advice in rules.SEAMS:
        if not allowed(file, where):
            for found in re.finditer(pattern, code):
                report.add(file, line_of(code, found.start()),
                           f"{what} (`{found.group().strip()}`)", advice)


def check_cpp(report, file, text):
    code = code_only(text)
    parts = PurePosixPath(file).parts
    if parts[0] == "src" and (len(parts) == 2 or parts[1] not in rules.LAYERS):
        report.add(file, 1, "it lies in no folder that the table knows",
                   "add it to LAYERS in tests/structure/rules.py, or use a folder that is there")
    for line, path, quoted in includes(text, code):
        if parts[0] == "include":
            check_public_include(report, file, line, path, quoted)
        else:
            check_layer(report, file, line, path, quoted)
            check_heavy(report, file, line, path)
            if quoted and parts[0] == "src":
                check_room(report, file, line, path)
    check_seams(report, file, code)
    if PurePosixPath(file).suffix in HEADERS:
        if not re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", code, re.MULTILINE):
            report.add(file, 1, "header without #pragma once", "make it the first directive")
        for found in USING_NAMESPACE.finditer(code):
            report.add(file, line_of(code, found.start()), "`using namespace` in a header",
                       "name what you use, or move it into the .cpp file")


def check_text(report, file, text):
    lines = text.splitlines()
    most = next(count for folder, count in rules.LINES_MAX if file.startswith(folder))
    if len(lines) > most:
        report.add(file, most + 1, f"{len(lines)} lines, more than {most}",
                   "split the file by what its parts do")
    for number, line in enumerate(lines, 1):
        if UNNUMBERED.search(line):
            report.add(file, number, "TO" "DO without an issue number",
                       "do it now, or open an issue and write its number: TO" "DO(#12)")
        if "\t" in line:
            report.add(file, number, "tab character", "indent with spaces; write \\t in a literal")
        if line != line.rstrip():
            report.add(file, number, "trailing white space", "delete it")


def check():
    root = arguments(__doc__).parse_args().root
    report = Report()
    count = 0
    check_folders(report, [path.as_posix() for path in project_files(root)])
    for path in project_files(root):
        is_cpp = path.suffix in CPP
        if path.parts[0] not in (FOLDERS if len(path.parts) > 1 else ROOT_SCRIPTS):
            continue
        if not (is_cpp or path.suffix in SCRIPTS or len(path.parts) == 1):
            continue
        text = read(root / path)
        count += 1
        check_text(report, path.as_posix(), text)
        if is_cpp:
            check_cpp(report, path.as_posix(), text)
    return report.finish(f"{count} files keep to the layout")


if __name__ == "__main__":
    main(check)
