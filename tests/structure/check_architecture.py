#!/usr/bin/env python3
"""Checks that the two tables of ARCHITECTURE.md say what rules.py says."""

import re

import rules
from common import Report, arguments, main, read

PAGE = "ARCHITECTURE.md"
FOLDER = re.compile(r"`src/([a-z_/]+)/`")
OWN_FILES = "its own files"  # How the page spells the room ".".


def rows(text):
    """(line, cells) of each row whose first cell names folders of src/."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|") and FOLDER.search(line.split("|")[1]):
            yield number, [cell.strip() for cell in line.strip().strip("|").split("|")]


def included(cell):
    """The folders that a cell such as "lease and below, inbox" means; None if a name is unknown."""
    found = set()
    for name in [] if cell == "none" else cell.split(", "):
        if name == "features":
            found |= rules.FEATURES
            continue
        name, below, _ = name.partition(" and below")
        if name not in rules.LAYERS:
            return None
        found |= {name} | (rules.LAYERS[name] if below else set())
    return found


def check_layer(report, line, folder, cell, there):
    """A folder that does not exist yet may be missing from the cells of the others."""
    said = included(cell)
    if said is None:
        report.add(PAGE, line, f"'{cell}' names a folder that rules.py does not know",
                   "write names of LAYERS, such as: lease and below, inbox")
    elif said & there != rules.LAYERS[folder] & there:
        names = ", ".join(sorted(rules.LAYERS[folder] & there)) or "none"
        report.add(PAGE, line, f"src/{folder} may not include just that", f"it may include: {names}")


def check():
    root = arguments(__doc__).parse_args().root
    report = Report()
    there = {folder for folder in rules.LAYERS if (root / "src" / folder).is_dir()}
    layers, rooms = set(), set()
    for line, cells in rows(read(root / PAGE)):
        folders = FOLDER.findall(cells[0])
        if len(cells) > 2:
            for folder in folders:
                layers.add(folder)
                if "later" in cells[-1] and folder not in rules.LAYERS:
                    continue
                if folder not in rules.LAYERS:
                    report.add(PAGE, line, f"rules.py does not know src/{folder}", "add it to LAYERS")
                else:
                    check_layer(report, line, folder, cells[2], there)
            continue
        rooms.add(folders[0])
        order = ", ".join(rules.ROOMS.get(folders[0], [])).replace(".", OWN_FILES)
        if cells[1] != order:
            report.add(PAGE, line, f"the rooms of src/{folders[0]} are others", f"write: {order}")
    for folder in sorted(there - layers - rules.FEATURES):
        report.add(PAGE, 1, f"src/{folder} has no row", "add it to the table of folders")
    for folder in sorted(folder for folder in rules.ROOMS if (root / "src" / folder).is_dir()):
        if folder not in rooms:
            report.add(PAGE, 1, f"the rooms of src/{folder} have no row", "add it to their table")
    return report.finish(f"{PAGE} has the {len(there)} folders of src and their rooms")


if __name__ == "__main__":
    main(check)
