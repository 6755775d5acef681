"""check_words.py and check_wrap.py."""

import check_words
import check_wrap
from fake_tree import FakeTree


class Words(FakeTree):
    def page(self, text, path="docs/a.md"):
        self.write(path, text)

    def test_plain_words_pass(self):
        self.page("There is no lock.\nIt is no longer there; it is not a queue. Some body of water.\n"
                  "`nobody` is quoted.\n```\nwhoever is no one\n```\n<!-- somebody -->\n")
        self.write("docs/adr/0001-x.md", "Nobody knows.\n")
        self.write("src/a.md", "Nobody knows.\n")
        self.assert_clean(check_words)

    def test_words_that_do_not_say_who(self):
        for word in ["Whoever", "somebody", "nobody's", "anybody", "everybody", "whomever"]:
            self.page(f"x\n{word} asks\n")
            self.assert_found(check_words, "docs/a.md:2", f"`{word}`", "say who")

    def test_is_no(self):
        self.page("a name that is no\nqueue\n", "README.md")
        self.assert_found(check_words, "README.md:1", "`is no queue`", "is not a")

    def test_texts_of_a_source(self):
        self.write("src/a.cpp", '// is no queue\nauto x = "it is not " "a queue"; R"(-- whoever\n)";\n')
        self.assert_clean(check_words)
        self.write("src/a.cpp", 'x\nauto x = "\\"{}\\" is " // here\n    "no queue";\n')
        self.assert_found(check_words, "src/a.cpp:2", "a text with `is no queue`", "is not a")

    def test_comments_of_a_source(self):
        self.write("src/a.cpp", "// The caller is no queue.\nauto y = '\"'; // \"\nint some_body;\n"
                   'auto x = R"(-- x // nobody\n)";\n')
        self.write("tests/a.cpp", "// Nobody knows.\n")
        self.assert_clean(check_words)
        for path in ["src/a.cpp", "include/posthorn/a.hpp"]:
            for word in ["Whoever", "somebody's"]:
                self.write(path, f"auto x = '\"';\nf(\"http://x\");  /// {word} asks.\n")
                self.assert_found(check_words, f"{path}:2", f"a comment with `{word}`", "say who")
            self.write(path, "")


class Wrap(FakeTree):
    LONG = "word " * 19 + "words"  # 100 columns.

    def page(self, text):
        self.write("docs/a.md", text)

    def test_what_may_be_long_passes(self):
        self.page(f"{self.LONG}\n| {self.LONG} |\n# {self.LONG} heading\n```\n{self.LONG} code\n```\n"
                  f"<!-- {self.LONG} -->\n[a]: {self.LONG}\n- `{self.LONG} one code span`\n"
                  f"  {'x' * 120}\n")
        self.assert_clean(check_wrap)

    def test_prose_that_is_too_long(self):
        for mark in ["", "- ", "1. ", "> "]:
            self.page(f"x\n\n{mark}{self.LONG} more\n")
            self.assert_found(check_wrap, "docs/a.md:3", "a line of", "wrap prose at 100")

    def test_columns_are_characters(self):
        self.page("é" * 60 + " " + "é" * 39 + "\n")
        self.assert_clean(check_wrap)
