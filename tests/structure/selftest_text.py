"""check_words.py and check_wrap.py."""

import check_words
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
