"""check_version.py."""

import check_version
from fake_tree import FakeTree


class Version(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("VERSION", "1.2.0\n")

    def test_a_version_in_one_place_passes(self):
        self.write("CMakeLists.txt", "file(STRINGS VERSION v)\ncmake_minimum_required(VERSION 11.2.0)\n")
        self.write("CHANGELOG.md", "## 1.2.0\n")
        self.write("tests/a.cpp", '"1.2.0-preview.1" "v1.2.0.1" "9.8.7"\n')
        self.assert_clean(check_version)

    def test_a_version_in_a_second_place(self):
        self.write("include/posthorn/version.hpp", '\nversion = "1.2.0";\n')
        self.assert_found(check_version, "include/posthorn/version.hpp:2", "a second time",
                          "take it from VERSION")

    def test_a_preview_in_a_second_place(self):
        self.write("VERSION", "1.2.0-preview.1\n")
        self.write("packaging/pack", "'1.2.0-preview.1'\n")
        self.assert_found(check_version, "packaging/pack:1", "1.2.0-preview.1", "VERSION")

    def test_what_is_not_a_version(self):
        self.write("VERSION", "1.2\n")
        self.assert_found(check_version, "VERSION:1", "'1.2' is not a version", "write 1.2.0")
