"""check_architecture.py."""

import check_architecture
from fake_tree import FakeTree

HEAD = "# Architecture\n| folder | holds | may include | state |\n|---|---|---|---|\n"
BASE = "| `src/base/` | x | none | works |\n"
MESSAGE = "| `src/message/` | x | base | works |\n"
ROOMS = ("| `src/base/` | its own files, text, time, async, log, run |\n"
         "| `src/message/` | its own files, wire |\n")


class Architecture(FakeTree):
    def setUp(self):
        super().setUp()
        for folder in ["base", "message", "security"]:
            self.write(f"src/{folder}/a.cpp")

    def page(self, *rows):
        self.write("ARCHITECTURE.md", HEAD + "".join(rows))

    def found(self, line, wrong, instead):
        self.assert_found(check_architecture, f"ARCHITECTURE.md:{line}", wrong, instead)

    def test_true_tables_pass(self):
        self.page(BASE, MESSAGE, "| `src/security/` | x | message and below | works |\n",
                  "| `src/webhook/`, `src/forward/` | x | feature and below | later |\n", ROOMS)
        self.assert_clean(check_architecture)

    def test_a_folder_without_a_row(self):
        self.page(BASE, MESSAGE, ROOMS)
        self.found(1, "src/security has no row", "add it")

    def test_a_folder_that_may_include_less(self):
        self.page(BASE, MESSAGE, "| `src/security/` | x | base | works |\n", ROOMS)
        self.found(6, "src/security may not", "base, message")

    def test_a_folder_that_may_include_more(self):
        self.page("| `src/base/` | x | message | works |\n", MESSAGE,
                  "| `src/security/` | x | base, message | works |\n", ROOMS)
        self.found(4, "src/base may not", "none")

    def test_a_folder_that_nothing_knows(self):
        self.page(BASE, MESSAGE, "| `src/security/` | x | everything | works |\n", ROOMS)
        self.found(6, "'everything' names a folder", "names of LAYERS")
        self.page(BASE, MESSAGE, "| `src/security/` | x | message and below | works |\n",
                  "| `src/cellar/` | x | base | works |\n", ROOMS)
        self.found(7, "does not know src/cellar", "add it to LAYERS")

    def test_rooms_in_another_order(self):
        self.page(BASE, MESSAGE, "| `src/security/` | x | message and below | works |\n",
                  ROOMS.replace("text, time", "time, text"))
        self.found(7, "the rooms of src/base are others", "its own files, text, time, async, log, run")

    def test_rooms_without_a_row(self):
        self.page(BASE, MESSAGE, "| `src/security/` | x | message and below | works |\n",
                  ROOMS.splitlines()[0] + "\n")
        self.found(1, "the rooms of src/message have no row", "add it")
