"""check_structure.py: folders, dependencies, seams and text."""

import subprocess

import check_structure
import rules
from common import code_only
from fake_tree import FakeTree

TO_DO = "TO" "DO"


class Layout(FakeTree):
    def found(self, path, text, line, wrong, instead):
        self.write(path, text)
        self.assert_found(check_structure, f"{path}:{line}", wrong, instead)

    def clean(self, path, text):
        self.write(path, text)
        self.assert_clean(check_structure)


class Includes(Layout):
    def test_a_tidy_tree_passes(self):
        self.write("include/posthorn/a.hpp",
                   "#pragma once\n#include <string>\n#include <posthorn/b.hpp>\n"
                   "struct sqlite3;\n")
        self.write("src/store/sqlite/c.hpp",
                   '#pragma once\n#include <sqlite3.h>\n#include "base/x.hpp"\n')
        self.write("src/app/cli/main.cpp", '#include <CLI/CLI.hpp>\n#include "app/node/node.hpp"\n'
                                           '#include "admin/x.hpp"\n#include "queue/x.hpp"\n')
        self.write("tests/unit/app/node_test.cpp",
                   '#include "app/node/node.hpp"\n#include "support/x.hpp"\n')
        self.assert_clean(check_structure)

    def test_an_include_upwards(self):
        self.found("src/message/a.cpp", '#include "base/x.hpp"\n#include "store/x.hpp"\n', 2,
                   "message/ must not include store/x.hpp", "it may include base")

    def test_an_include_sideways(self):
        self.found("src/outbox/a.cpp", '#include "inbox/x.hpp"\n', 1, "must not include inbox",
                   "put an interface")

    def test_a_subfolder_belongs_to_its_folder(self):
        self.found("src/store/sqlite/a.cpp", '\n#include "transport/x.hpp"\n', 2,
                   "store/ must not include", "it may include base, message")

    def test_angle_brackets_hide_nothing(self):
        self.found("src/base/a.cpp", "#include <message/x.hpp>\n", 1, "must not include",
                   "no other folder")

    def test_a_room_does_not_include_one_above_it(self):
        self.clean("src/outbox/lane/a.cpp", '#include "outbox/rules/x.hpp"\n')
        self.found("src/outbox/rules/a.cpp", '#include "outbox/lane/x.hpp"\n', 1,
                   "outbox/rules must not include outbox/lane/x.hpp", "lowest first, rules, relay, lane")

    def test_a_room_that_is_new_is_put_into_the_order(self):
        self.found("src/outbox/attic/a.cpp", '#include "outbox/rules/x.hpp"\n', 1,
                   "not a room that the table knows", "add it to ROOMS")

    def test_a_folder_with_too_many_files_wants_rooms(self):
        for number in range(rules.FILES_MAX):
            self.write(f"src/security/a{number}.hpp", "#pragma once\n")
        self.assert_clean(check_structure)
        self.write("src/security/b.hpp", "#pragma once\n")
        self.assert_found(check_structure, "src/security:1", "41 files, more than 40", "rooms")

    def test_nobody_includes_app(self):
        self.found("src/admin/a.cpp", '#include "app/node/node.hpp"\n', 1, "nobody includes app",
                   "folder below")

    def test_a_benchmark_does_not_include_app(self):
        self.found("bench/a.cpp", '#include "app/node/node.hpp"\n', 1, "nobody includes app",
                   "folder below")

    def test_an_example_keeps_to_the_public_headers(self):
        self.found("examples/1_hello/main.cpp", '#include "base/x.hpp"\n', 1, "an example includes",
                   "<posthorn/...>")

    def test_a_path_that_does_not_start_at_src(self):
        self.found("src/base/a.cpp", '#include "x.hpp"\n', 1, "not a path from src/",
                   '"folder/file.hpp"')

    def test_a_folder_that_the_table_does_not_know(self):
        self.found("src/misc/a.cpp", "int a;\n", 1, "no folder that the table knows", "LAYERS")

    def test_a_file_outside_every_folder(self):
        self.found("src/a.cpp", "int a;\n", 1, "no folder that the table knows", "LAYERS")

    def test_a_public_header_that_includes_a_library(self):
        self.found("include/posthorn/a.hpp", "#pragma once\n#include <fmt/format.h>\n", 2,
                   "a public header includes fmt/format.h", "forward-declare")

    def test_a_public_header_that_includes_the_inside(self):
        self.found("include/posthorn/a.hpp", '#pragma once\n#include "base/x.hpp"\n', 2,
                   "a public header includes", "<posthorn/...>")

    def test_an_include_in_a_comment_or_a_literal_counts_for_nothing(self):
        self.clean("src/base/a.cpp",
                   '/*\n#include "app/x.hpp"\n*/\nauto a = R"(\n#include "app/x.hpp"\n)";\n')

    def test_every_folder_of_the_table_points_downwards(self):
        seen = set()
        for folder, may in rules.LAYERS.items():
            self.assertLessEqual(may - {"workflow", "engine"}, seen, folder)
            seen.add(folder)


class Dependencies(Layout):
    def test_each_heavy_dependency_outside_its_folder(self):
        for header in ["sqlite3.h", "boost/beast/http.hpp", "toml++/toml.h", "CLI/CLI.hpp",
                       "spdlog/spdlog.h", "prometheus/counter.h", "openssl/hmac.h", "libpq-fe.h",
                       "grpcpp/grpcpp.h", "simdjson.h", "ares.h"]:
            with self.subTest(header):
                self.found("src/outbox/a.cpp", f"\n#include <{header}>\n", 2, "is included outside",
                           " ")

    def test_a_unit_test_may_include_what_its_folder_may(self):
        self.clean("tests/unit/security/a_test.cpp", "#include <openssl/hmac.h>\n")

    def test_sqlite_is_open_to_tests_and_examples(self):
        self.write("tests/crash/a.cpp", "#include <sqlite3.h>\n")
        self.clean("examples/2_own_handle/main.cpp", "#include <sqlite3.h>\n")


class Seams(Layout):
    CASES = {
        "reads a clock": ["std::chrono::system_clock::now()", "steady_clock::now()",
                          "time(nullptr)", "std::time(0)", "gettimeofday(&t, 0)",
                          "clock_gettime(CLOCK_REALTIME, &t)",
                          "std::chrono::high_resolution_clock c"],
        "draws entropy": ["std::random_device d", "rand()", "std::rand()", "getrandom(p, n, 0)",
                          "arc4random()"],
        "makes its own random engine": ["std::mt19937 e", "std::mt19937_64 e(1)"],
        "opens a socket": ["socket(AF_INET, 1, 0)", "::connect(fd, p, n)",
                           "asio::ip::tcp::socket s",
                           "asio::local::stream_protocol::acceptor a"],
        "starts a thread": ["std::thread t", "std::jthread t", "pthread_create(&t)",
                            "std::async(f)",
                            "asio::thread_pool p"],
        "makes a timer": ["asio::steady_timer t", "asio::system_timer t",
                          "basic_waitable_timer<c> t"],
        "sleeps": ["std::this_thread::sleep_for(d)", "usleep(5)", "nanosleep(&t, 0)", "::sleep(1)",
                   "sleep(1)"],
        "detaches work": ["f(asio::detached)", "t.detach()"],
        "spawns a coroutine": ["asio::co_spawn(e, f(), g)"],
    }

    def test_each_seam_is_guarded(self):
        self.assertEqual(set(self.CASES), {what for what, *_ in rules.SEAMS})
        for what, cases in self.CASES.items():
            for code in cases:
                with self.subTest(code):
                    advice = next(advice for name, _, _, advice in rules.SEAMS if name == what)
                    self.found("src/outbox/a.cpp", f"// One.\n{code};\n", 2, what, advice)

    def test_the_seams_themselves_may(self):
        self.write("src/base/time/clock.cpp", "auto a = std::chrono::system_clock::now();\n")
        self.write("src/base/random.cpp", "std::random_device d;\n")
        self.write("src/base/async/executor_pool.cpp", "std::thread t;\n")
        self.write("src/base/async/io_threads.hpp", "#pragma once\nstd::jthread t;\n")
        self.write("src/base/async/timer.cpp", "asio::steady_timer t;\n")
        self.write("src/base/async/task_group.cpp", "asio::co_spawn(e, f(), asio::detached);\n")
        self.write("src/transport/http/a.cpp", "asio::ip::tcp::socket s;\n")
        self.assert_clean(check_structure)

    def test_names_that_only_look_alike_pass(self):
        self.clean(
            "src/outbox/a.cpp",
            "clock.now(); co_await time.sleep_for(d); std::thread::id i; s.socket();\n"
            "co_await real_timer::sleep_for(d); posthorn::connect(x); operand(1);\n"
            "std::chrono::steady_clock::time_point p; unix_socket(x); a.time(0);\n")

    def test_comments_and_literals_pass(self):
        self.clean("src/outbox/a.cpp",
                   '// rand()\n/* rand() */ auto a = "rand()"; auto b = R"x(rand())" )x";\n'
                                       "auto c = '\"'; int d = 1'000; // rand()\n")

    def test_code_after_a_digit_separator_is_still_read(self):
        self.found("src/outbox/a.cpp", "int a = 1'000;\nint b = rand() + 'x';\n", 2,
                   "draws entropy", "random")

    def test_a_test_may_start_threads_but_not_sleep(self):
        self.found("tests/unit/base/a_test.cpp",
                   "std::thread t;\nco_spawn(x);\nstd::this_thread::sleep_for(1ms);\n",
                   3, "sleeps", "wait on a condition, or on virtual time")

    def test_a_benchmark_may_read_the_clock(self):
        self.clean("bench/a.cpp", "auto a = std::chrono::steady_clock::now();\n")


class Text(Layout):
    def test_an_overlong_file(self):
        self.found("src/base/a.cpp", "int a;\n" * 501, 501, "501 lines, more than 500",
                   "split the file")

    def test_an_overlong_script(self):
        self.found("tools/a.sh", "true\n" * 401, 401, "more than 400", "split the file")

    def test_a_test_may_have_600_lines(self):
        self.clean("tests/unit/base/a_test.cpp", "int a;\n" * 600)

    def test_a_test_of_601_lines(self):
        self.found("tests/unit/base/a_test.cpp", "int a;\n" * 601, 601, "more than 600",
                   "split the file")

    def test_a_header_without_pragma_once(self):
        self.found("src/base/a.hpp", "// #pragma once\nint a;\n", 1, "without #pragma once",
                   "first directive")

    def test_using_namespace_in_a_header(self):
        self.found("src/base/a.hpp", "#pragma once\nusing namespace std;\n", 2, "`using namespace`",
                   "name what")

    def test_using_namespace_inside_a_function_passes(self):
        self.clean("src/base/a.hpp",
                   "#pragma once\ninline void f() {\n    using namespace std;\n}\n")

    def test_work_left_over_without_a_number(self):
        self.found("src/base/a.cpp", f"// {TO_DO}(#12): fine.\n// {TO_DO}: later.\n", 2,
                   "issue number", "(#12)")

    def test_a_tab(self):
        self.found("src/base/a.cpp", "int a;\n\tint b;\n", 2, "tab", "spaces")

    def test_trailing_white_space(self):
        self.found("tests/a.py", "a = 1 \n", 1, "trailing white space", "delete")

    def test_what_git_ignores_is_not_checked(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write(".gitignore", "/src/made/\n")
        self.write("src/made/a.cpp", "\t\n")
        self.clean("src/base/a.cpp", "int a;\n")

    def test_blanking_keeps_every_offset(self):
        text = '/* a\n b */ "c\\"d" R"x(e\n)" f)x" \'g\' 1\'000 // h\\\n i\nj\n'
        code = code_only(text)
        self.assertEqual(len(code), len(text))
        self.assertEqual([i for i, c in enumerate(code) if c == "\n"],
                         [i for i, c in enumerate(text) if c == "\n"])
        self.assertEqual(code.split()[-1], "j")
        self.assertFalse(set("abcdefghi") & set(code))
