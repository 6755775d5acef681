"""check_format.py and tidy.py, with the tools themselves."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_format
import tidy
from fake_tree import FakeTree


@unittest.skipUnless(shutil.which(check_format.TOOL), "clang-format is not installed")
class Format(FakeTree):
    def setUp(self):
        super().setUp()
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/base/a.cpp", "int a;\n")

    def test_formatted_files_pass(self):
        self.assert_clean(check_format)

    def test_an_unformatted_file(self):
        self.write("src/base/b.hpp", "int a;\nint   b;\n")
        code, out = self.run_check(check_format)
        self.assertEqual(code, 1)
        self.assertTrue(out.startswith("src/base/b.hpp:2: not formatted"), out)
        self.assertTrue(out.endswith("to mend: clang-format-19 -i src/base/b.hpp\n"), out)


@unittest.skipUnless(shutil.which(tidy.TOOL), "clang-tidy is not installed")
class Tidy(FakeTree):
    def setUp(self):
        super().setUp()
        self.write(".clang-tidy",
                   "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n"
                   "HeaderFilterRegex: '.*'\n")
        self.header = self.write("src/base/a.hpp", "#pragma once\n")
        self.source = self.write("src/base/a.cpp", '#include "base/a.hpp"\nint* a = nullptr;\n')
        self.library = self.write("src/base/lib.cpp", "// Compiled once.\n#include <vector>\n")
        self.made = self.write("build/made.cpp", "int* a = 0;\n")
        self.flags = ""
        self.take_deps()
        cache = tempfile.TemporaryDirectory()
        self.addCleanup(cache.cleanup)
        place = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache.name})
        place.start()
        self.addCleanup(place.stop)
        self.scope = mock.patch.object(tidy, "own_code", return_value=[])
        self.scope.start()
        self.addCleanup(self.scope.stop)

    def take_deps(self):
        self.build = self.root / "build"
        self.deps = {self.build / "a.cpp.o": [self.source, self.header]}

    def run_tidy(self):
        self.write("build/compile_commands.json", json.dumps([
            {"directory": str(self.build), "file": str(file),
             "command": f"clang++-19 -I{self.root}/src {self.flags} -o {file.name}.o -c {file}"}
            for file in [self.source, self.library, self.made]]))
        with mock.patch.object(tidy, "ninja_deps", return_value=self.deps):
            return self.run_check(tidy, "--build", self.build, "-j", 1)

    def test_a_finding_fails_and_is_shown_again(self):
        self.source.write_text("int* a = nullptr;\nint* b = 0;\n")
        for _ in range(2):
            code, out = self.run_tidy()
            self.assertEqual(code, 1, out)
            self.assertIn("1 files, 0 unchanged", out)
            self.assertIn("[1/1] src/base/a.cpp", out)
            self.assertIn("src/base/a.cpp:2:10: error: use nullptr", out)

    def test_a_clean_file_is_not_run_again(self):
        self.assertIn("1 files, 0 unchanged", self.run_tidy()[1])
        code, out = self.run_tidy()
        self.assertEqual(code, 0, out)
        self.assertIn("1 files, 1 unchanged", out)

    def test_a_file_that_was_clean_in_another_checkout_is_not_run_again(self):
        self.run_tidy()
        with tempfile.TemporaryDirectory() as other:
            was, self.root = self.root, Path(other).resolve() / "tree"
            shutil.copytree(was, self.root)
            self.source, self.header, self.library, self.made = (
                self.root / path.relative_to(was)
                for path in (self.source, self.header, self.library, self.made))
            self.take_deps()
            self.assertIn("1 files, 1 unchanged", self.run_tidy()[1])
            self.header.write_text("#pragma once\nint c();\n")
            self.assertIn("1 files, 0 unchanged", self.run_tidy()[1])
            self.root = was

    def test_what_nobody_asked_for_in_a_month_is_forgotten(self):
        self.run_tidy()
        for entry in (Path(os.environ["XDG_CACHE_HOME"]) / "posthorn" / "tidy").iterdir():
            os.utime(entry, (0, 0))
        self.source.write_text("int* b = nullptr;\n")
        self.run_tidy()
        self.source.write_text('#include "base/a.hpp"\nint* a = nullptr;\n')
        self.assertIn("1 files, 0 unchanged", self.run_tidy()[1])

    def test_each_part_of_the_key_makes_a_file_run_again(self):
        def edit_source(): self.source.write_text('#include "base/a.hpp"\nint* b = nullptr;\n')
        def edit_header(): self.header.write_text("#pragma once\nint c();\n")
        def edit_checks(): self.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\n")
        def edit_command(): self.flags = "-DX"
        for edit in [edit_source, edit_header, edit_checks, edit_command]:
            with self.subTest(edit.__name__):
                self.run_tidy()
                self.assertIn("1 unchanged", self.run_tidy()[1])
                edit()
                self.assertIn("0 unchanged", self.run_tidy()[1])

    def test_a_header_inside_the_precompiled_one_makes_a_file_run_again(self):
        pch = self.build / "cmake_pch.hxx.pch"
        self.deps = {self.build / "a.cpp.o": [self.source, pch], pch: [self.header]}
        self.run_tidy()
        self.assertIn("1 unchanged", self.run_tidy()[1])
        self.header.write_text("#pragma once\nint c();\n")
        self.assertIn("0 unchanged", self.run_tidy()[1])

    def test_a_file_whose_includes_are_unknown_is_always_run(self):
        self.deps = {}
        self.run_tidy()
        self.assertIn("0 unchanged", self.run_tidy()[1])

    def test_our_own_headers_are_looked_at_and_the_libraries_are_precompiled(self):
        self.scope.stop()
        self.addCleanup(self.scope.start)
        self.write("usr/lib.hpp", "#pragma once\ninline int* in_library() { return 0; }\n")
        self.header.write_text("#pragma once\ninline int* in_header() { return 0; }\n")
        text = self.write("build/headers.dir/cmake_pch.hxx",
                          f'#include <lib.hpp>\n#include "{self.header}"\n')
        self.flags = f"-isystem {self.root}/usr -Xclang -include -Xclang {text}"
        self.source.write_text("int* a = in_library();\nint* b = 0;\n")
        code, out = self.run_tidy()
        self.assertEqual(code, 1, out)
        self.assertIn("src/base/a.hpp:2:", out)
        self.assertIn("src/base/a.cpp:2:", out)
        self.assertNotIn("lib.hpp", out)
        self.assertTrue((self.build / "tidy" / "headers.pch").is_file())

    def test_the_precompiled_binary_gives_way_to_its_text(self):
        words = ["c++", "-Winvalid-pch", "-Xclang", "-include-pch", "-Xclang", "/b/p.hxx.pch",
                 "-Xclang", "-include", "-Xclang", "/b/p.hxx", "a.cpp"]
        self.assertEqual(tidy.without_pch(words),
                         ["c++", "-Xclang", "-include", "-Xclang", "/b/p.hxx", "a.cpp"])
