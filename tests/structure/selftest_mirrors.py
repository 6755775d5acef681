"""check_mirrors.py."""

import check_mirrors
from fake_tree import FakeTree


class Mirrors(FakeTree):
    SAME = "int a;\nint b;\n"

    def pair(self, sqlite, postgres, name="tables/a.cpp"):
        self.write(f"src/store/sqlite/{name}", sqlite)
        self.write(f"src/store/postgres/{name}", postgres)

    def shares(self):
        """(percent of all lines, of those that tell something)"""
        sums = check_mirrors.Sum(), check_mirrors.Sum()
        for name in check_mirrors.twins(self.root):
            one, other = (check_mirrors.lines_of(self.root / store / name)
                          for store in check_mirrors.STORES)
            sums[0].add(name, one, other)
            sums[1].add(name, check_mirrors.telling(one), check_mirrors.telling(other))
        return tuple(each.percent() for each in sums)

    def test_files_of_one_store_alone_pass(self):
        self.write("src/store/sqlite/tables/a.cpp", self.SAME)
        self.write("src/store/postgres/tables/b.cpp", self.SAME)
        self.assert_clean(check_mirrors)

    def test_what_both_say(self):
        self.pair(self.SAME, self.SAME)
        code, out = self.run_check(check_mirrors)
        lines = out.splitlines()
        self.assertEqual((code, len(lines)), (1, 3), out)
        for line, what in zip(lines, ["mirrored lines", "lines that tell something"]):
            self.assertTrue(line.startswith("src/store/sqlite/tables/a.cpp:1: 100.0 % of the"), out)
            self.assertIn(what, line)
            self.assertIn("to where both stores have it from", line)

    def test_comments_includes_and_blank_lines_do_not_count(self):
        shared = '#include "a.hpp"\n\n// The same.\n/* The same. */\n'
        self.pair(shared + "int a;\n", shared + "int b;\n")
        self.assertEqual(self.shares(), (0, 0))
        self.assert_clean(check_mirrors)

    def test_sql_does_not_count(self):
        self.pair('f(R"sql(\nSELECT 1\nFROM a)sql", 1);\ng("one");\n', 'f("x",\n1);\ng("two");\n')
        self.assertEqual(self.shares(), (40, 40))  # `g("")` alone is the same.

    def test_what_tells_nothing(self):
        for line in ["}", "});", "private:", "#pragma once", "namespace {", '.find = "one",',
                     '{.find = R"sql(', "", '.find = find_sql}),', 'find_(database, "one"),',
                     "find_(database, find_sql) {}"]:
            close = ')sql",' if "R\"" in line else ""
            self.pair(f"{line}{close}\nint a;\n", f"{line}{close}\nint b;\n")
            self.assertEqual(self.shares()[1], 0, line)
        for line in ["return {};", "statement find_;", "result<> read() override;", "}  else f();"]:
            self.pair(f"{line}\n", f"{line}\n")
            self.assertEqual(self.shares()[1], 100, line)

    def test_tells_of_the_worst_pair_first(self):
        self.pair("int a;\n", "int b;\n", "commit/first.hpp")
        self.pair(self.SAME, self.SAME, "tables/second.hpp")
        _, out = self.run_check(check_mirrors, "--list")
        self.assertTrue(out.startswith("   2 of    2 and    2: tables/second.hpp\n"), out)
