"""check_mirrors.py."""

import check_mirrors
from fake_tree import FakeTree


class Mirrors(FakeTree):
    SAME = "int a;\nint b;\n"

    def pair(self, sqlite, postgres, name="tables/a.cpp"):
        self.write(f"src/store/sqlite/{name}", sqlite)
        self.write(f"src/store/postgres/{name}", postgres)

    def test_files_of_one_store_alone_pass(self):
        self.write("src/store/sqlite/tables/a.cpp", self.SAME)
        self.write("src/store/postgres/tables/b.cpp", self.SAME)
        self.assert_clean(check_mirrors)

    def test_what_both_say(self):
        self.pair(self.SAME, self.SAME)
        self.assert_found(check_mirrors, "src/store/sqlite/tables/a.cpp:1",
                          "100.0 % of the stores' mirrored lines", "to where both stores have it from")

    def test_comments_includes_and_blank_lines_do_not_count(self):
        shared = '#include "a.hpp"\n\n// The same.\n/* The same. */\n'
        self.pair(shared + "int a;\n", shared + "int b;\n")
        code, out = self.run_check(check_mirrors)
        self.assertEqual((code, out), (0, "ok: 0.0 % of 2 mirrored lines in 1 pairs are the same\n"))

    def test_sql_does_not_count(self):
        self.pair('f(R"sql(\nSELECT 1\nFROM a)sql", 1);\ng("one");\n', 'f("x",\n1);\ng("two");\n')
        _, out = self.run_check(check_mirrors)
        self.assertIn("40.0 % of", out)  # `g("")` alone is the same.

    def test_tells_of_the_worst_pair_first(self):
        self.pair("int a;\n", "int b;\n", "commit/first.hpp")
        self.pair(self.SAME, self.SAME, "tables/second.hpp")
        _, out = self.run_check(check_mirrors, "--list")
        self.assertTrue(out.startswith("   2 of    2 and    2: tables/second.hpp\n"), out)
