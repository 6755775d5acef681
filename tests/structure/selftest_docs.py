"""check_errors.py, check_coverage.py, check_promised.py, check_docs.py."""

import check_coverage
import check_promised
import check_docs
import check_errors
from fake_tree import FakeTree


class Errors(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("include/posthorn/error.hpp",
                   "enum class error_code : int {\n    closed,  // a, b\n    full,\n};\n")
        self.write("src/base/error.cpp",
                   'error_info{closed, "closed", "x"},\nerror_info{full, "full", "x", true},\n')
        for name in ["README", "closed", "full"]:
            self.write(f"docs/reference/errors/{name}.md", "# x\n")

    def test_codes_with_their_pages_pass(self):
        self.assert_clean(check_errors)

    def test_a_code_without_a_page(self):
        (self.root / "docs/reference/errors/full.md").unlink()
        self.assert_found(check_errors, "include/posthorn/error.hpp:3",
                          "error_code::full has no page",
                          "write docs/reference/errors/full.md")

    def test_a_page_without_a_code(self):
        self.write("docs/reference/errors/gone.md")
        self.assert_found(check_errors, "docs/reference/errors/gone.md:1", "does not exist",
                          "delete it")

    def test_a_code_that_the_catalogue_lacks(self):
        self.write("src/base/error.cpp", 'error_info{closed, "closed", "x"},\n')
        self.assert_found(check_errors, "include/posthorn/error.hpp:3",
                          "is not in src/base/error.cpp", "add error_info{full")

    def test_a_code_with_another_name_in_the_catalogue(self):
        self.write("src/base/error.cpp",
                   'error_info{closed, "closed"},\nerror_info{full, "ful"},\n')
        self.assert_found(check_errors, "src/base/error.cpp:2", 'full is called "ful"', "same name")

    def test_an_enumeration_that_is_not_found(self):
        self.write("include/posthorn/error.hpp", "enum class errors {};\n")
        code, out = self.run_check(check_errors)
        self.assertEqual(code, 1)
        self.assertIn("include/posthorn/error.hpp:1: no `enum class error_code`", out)


class Coverage(FakeTree):
    PAGE = "docs/reference/coverage.md"

    def setUp(self):
        super().setUp()
        self.rows = [f"| {letter}{n} | does it \\| well | not yet |" for letter, count
                     in check_coverage.NUMBERS.items() for n in range(1, count + 1)]
        self.tests = self.write(
            "tests.txt",
            "Test project /x\n  Test  #1: uuid.sorts_by_time\n"
            "  Test #12: sqlite/store.keeps_rows/0\n  Test #13: consumer\n"
            "  Test #14: uuid.sleeps (Disabled)\n\nTotal Tests: 3\n")

    def put(self, index, row):
        self.rows[index:index + 1] = row
        self.write(self.PAGE,
                   "\n".join(["# Coverage", "", "| row | what | shown by |", "|---|---|---|",
                              *self.rows, ""]))

    def found(self, line, wrong, instead):
        self.assert_found(check_coverage, f"{self.PAGE}:{line}", wrong, instead, "--tests-file",
                          self.tests)

    def test_a_full_page_passes(self):
        self.put(0, ["| A1 | x | `uuid.sorts_by_time`, `store.keeps_rows`, `ctest:consumer` |"])
        self.assert_clean(check_coverage, "--tests-file", self.tests)

    def test_there_are_192_rows(self):
        self.assertEqual(len(self.rows), 192)

    def partly(self, row, *missing):
        self.put(0, [row])
        page = self.root / self.PAGE
        page.write_text(page.read_text() + "".join(f"{line}\n" for line in missing))

    def test_a_row_that_is_partly_shown_says_what_is_missing_and_counts_apart(self):
        self.partly("| A1 | x | partly: `uuid.sorts_by_time` |", "- A1: the other half")
        self.assert_clean(check_coverage, "--tests-file", self.tests)
        _, said = self.run_check(check_coverage, "--tests-file", self.tests)
        self.assertIn("0 shown by tests, 1 partly", said)

    def test_a_row_that_is_partly_shown_without_a_word_about_the_rest(self):
        self.partly("| A1 | x | partly: `uuid.sorts_by_time` |")
        self.found(5, "nothing says what is missing", "- A1: ")

    def test_a_row_of_which_something_is_missing_is_not_shown(self):
        self.partly("| A1 | x | `uuid.sorts_by_time` |", "- A1: the other half")
        self.found(197, "A1 has a line of what is missing too many", "partly shown")

    def test_partly_shown_by_nothing(self):
        self.partly("| A1 | x | partly: |")
        self.found(5, "neither `not yet` nor", "partly: ")

    def test_a_test_that_may_skip_itself_shows_nothing(self):
        self.write("tests/uuid_test.cpp",
                   "TEST(uuid, other) {}\nTEST(uuid, sorts_by_time) {\n    GTEST_SKIP();\n}\n")
        self.put(0, ["| A1 | x | `uuid.sorts_by_time` |"])
        self.found(5, "`uuid.sorts_by_time`, which may skip itself", "always runs")

    def test_a_fixture_that_may_skip_does_so_for_all_its_tests(self):
        self.write("tests/store_test.cpp",
                   "class store : public Test {\n    void SetUp() override { GTEST_SKIP(); }\n};\n"
                   "TEST_F(store, keeps_rows) {}\n")
        self.put(0, ["| A1 | x | `store.keeps_rows` |"])
        self.found(5, "`store.keeps_rows`, which may skip itself", "always runs")

    def test_a_skip_of_another_test_in_the_file_is_no_matter(self):
        self.write("tests/uuid_test.cpp",
                   "TEST(uuid, sorts_by_time) {}\n// GTEST_SKIP\nTEST(uuid, other) { GTEST_SKIP(); }\n")
        self.put(0, ["| A1 | x | `uuid.sorts_by_time` |"])
        self.assert_clean(check_coverage, "--tests-file", self.tests)

    def test_a_missing_page(self):
        self.found(1, "the page is missing", "list every capability")

    def test_a_missing_row(self):
        self.put(45, [])
        self.found(195, "A46 is missing", "add | A46 |")

    def test_a_row_listed_twice(self):
        self.put(1, [self.rows[1], self.rows[1]])
        self.found(7, "A2 is listed twice, first in line 6", "keep one row")

    def test_an_unknown_row(self):
        self.put(0, [self.rows[0], "| D18 | x | not yet |"])
        self.found(6, "D18 is not a known capability", "correct the number")

    def test_a_test_that_does_not_exist(self):
        self.put(0, ["| A1 | x | `uuid.sorts_by_time`, `uuid.sings` |"])
        self.found(5, "A1 names `uuid.sings`", "write that test")

    def test_a_disabled_test_shows_nothing(self):
        self.put(0, ["| A1 | x | `uuid.sleeps` |"])
        self.found(5, "`uuid.sleeps`", "write that test")

    def test_a_ctest_test_that_does_not_exist(self):
        self.put(0, ["| A1 | x | `ctest:browser` |"])
        self.found(5, "`ctest:browser`", "ctest -N")

    def test_a_ctest_test_needs_its_prefix(self):
        self.put(0, ["| A1 | x | `consumer` |"])
        self.found(5, "`consumer`", "correct the name")

    def test_a_cell_that_is_neither(self):
        self.put(0, ["| A1 | x | soon |"])
        self.found(5, "neither `not yet` nor", "write: not yet")

    def test_a_row_with_a_bar_too_many(self):
        self.put(0, ["| A1 | x | y | not yet |"])
        self.found(5, "has 4 cells", "\\|")


class Promised(FakeTree):
    def setUp(self):
        super().setUp()
        for page, words in check_promised.PROMISED.items():
            self.write(page, "\n\n".join(words))

    def test_pages_that_say_it_all(self):
        self.assert_clean(check_promised)

    def test_a_word_that_is_gone(self):
        page, words = next(iter(check_promised.PROMISED.items()))
        self.write(page, "\n\n".join(words[1:]))
        self.assert_found(check_promised, f"{page}:1", words[0], "say it again")


class Docs(FakeTree):
    CODE = "int main() {\n    // [send]\n    send();\n    wait();\n    // [/send]\n}\n"

    def setUp(self):
        super().setUp()
        self.write("docs/a.md",
                   "# One thing\n\n## `two`: things, *so*\n\n"
                   "```\n# no heading\n[x](nowhere.md)\n```\n")
        self.write("examples/1/main.cpp", self.CODE)

    def page(self, text):
        self.write("README.md", text)

    def test_good_links_and_snippets_pass(self):
        self.page("# Top\n[a](docs/a.md) ![b](docs) [c](docs/a.md#two-things-so) [d](#top) "
                  "`[e](gone.md)`\n"
                  "[f](https://example.org/x) [g][h] <mailto:a@b.c>\n\n[h]: docs/a.md#one-thing\n"
                  f"<!-- from: examples/1/main.cpp -->\n```cpp\n{self.CODE}```\n"
                  "<!-- from: examples/1/main.cpp#send -->\n\n```cpp\nsend();\nwait();\n```\n")
        self.assert_clean(check_docs)

    def test_a_link_to_a_file_that_is_not_there(self):
        self.page("x\n[a](docs/b.md)\n")
        self.assert_found(check_docs, "README.md:2", "the link docs/b.md leads nowhere",
                          "correct the path")

    def test_a_snippet_that_does_not_wait_for_the_lock_of_a_node(self):
        for code in ["sqlite3 shop.db <<'END'\nINSERT INTO orders VALUES (1);\nEND\n",
                     "db = sqlite3.connect('shop.db')\ndb.execute('DELETE FROM orders')\n",
                     "BEGIN IMMEDIATE;\nINSERT INTO outbox_messages (payload) VALUES ('1');\n",
                     "DELETE FROM outbox_messages WHERE seq = 1;\n",
                     "INSERT INTO workflow_signals (signal) VALUES ('Paid');\n"]:
            self.page(f"x\n\n```\n{code}```\n")
            self.assert_found(check_docs, "README.md:3", "database is locked", ".timeout 5000")
        self.page("x\n")
        self.write("examples/1/run.sh", "sqlite3 a.db 'UPDATE t SET n = 1'\n")
        self.assert_found(check_docs, "examples/1/run.sh:1", "database is locked", ".timeout 5000")

    def test_snippets_that_wait_or_only_look_pass(self):
        for code in ["sqlite3 shop.db <<'END'\n.timeout 5000\nINSERT INTO o VALUES (1);\nEND\n",
                     "sqlite3 shop.db 'SELECT * FROM orders'\n",
                     "sqlite3 shop.db 'EXPLAIN UPDATE orders SET n = 1'\n",
                     "PRAGMA busy_timeout = 5000;\nINSERT INTO outbox_messages VALUES ('1');\n",
                     "db = sqlite3.connect('shop.db', timeout=5)\ndb.execute('DELETE FROM o')\n",
                     'Ordered = "sql:INSERT INTO reservations VALUES (:id)"\n']:
            self.page(f"x\n\n```\n{code}```\n")
            self.assert_clean(check_docs)

    def test_a_link_out_of_the_project(self):
        self.page("[a](../../etc)\n")
        self.assert_found(check_docs, "README.md:1", "leads nowhere", "correct the path")

    def test_a_reference_to_a_file_that_is_not_there(self):
        self.page("[a][b]\n\n[b]: docs/b.md\n")
        self.assert_found(check_docs, "README.md:3", "docs/b.md", "correct the path")

    def test_an_image_in_html_that_is_not_there(self):
        self.page('<img width="3" src="docs/b.png">\n')
        self.assert_found(check_docs, "README.md:1", "docs/b.png", "correct the path")

    def test_a_link_to_a_heading_that_is_not_there(self):
        self.page("[a](docs/a.md#three)\n")
        self.assert_found(check_docs, "README.md:1", "names no heading", "one-thing")

    def test_a_stale_snippet(self):
        self.page("<!-- from: examples/1/main.cpp#send -->\n```cpp\nsend();\nhope();\n```\n")
        self.assert_found(check_docs, "README.md:4", "differs from examples/1/main.cpp#send",
                          "copy the code anew: wait();")

    def test_a_snippet_that_lacks_the_end(self):
        self.page("<!-- from: examples/1/main.cpp#send -->\n```cpp\nsend();\n```\n")
        self.assert_found(check_docs, "README.md:4", "differs", "wait();")

    def test_a_snippet_of_a_file_that_is_not_there(self):
        self.page("<!-- from: examples/9/main.cpp -->\n```cpp\n```\n")
        self.assert_found(check_docs, "README.md:2", "is not there", "correct the name")

    def test_a_snippet_of_a_region_that_is_not_there(self):
        self.page("<!-- from: examples/1/main.cpp#receive -->\n```cpp\n```\n")
        self.assert_found(check_docs, "README.md:2", "is not there", "mark the region")
