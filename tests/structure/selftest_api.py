"""check_api.py."""

import check_api
from fake_tree import FakeTree


class Api(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("include/posthorn/posthorn.hpp", "#include <posthorn/node.hpp>\n")
        self.write("include/posthorn/async.hpp", "namespace posthorn::async {\nvoid go();\n}\n")
        self.write("include/posthorn/workflow.hpp", "#include <posthorn/workflow/flow.hpp>\n")
        self.write("include/posthorn/workflow/flow.hpp", "namespace posthorn {\n"
                   "class [[nodiscard(\"keep it\")]] flow {\npublic:\n    void wait();\n};\n}\n")
        self.write("include/posthorn/flow_test.hpp", "")
        self.write("include/posthorn/own_stores.hpp", "")
        self.header("")
        self.page("")

    def header(self, more):
        self.write("include/posthorn/node.hpp", "namespace posthorn {\nnamespace detail {\n"
                   "struct hidden {};\n}\nclass node {\npublic:\n    node();\n"
                   "    template <class T>\n        requires(sizeof(T) > 0)\n"
                   "    [[nodiscard]] std::vector<T> query(std::function<void(T)> f);\n"
                   "private:\n    int secret_ = 0;\n    void inner();\n};\n"
                   "enum class colour : std::uint8_t { red, green };\n"
                   "using later = std::function<void()>;\n"
                   f"{more}\n}}\n/// Public.\n#define POSTHORN_X(a) a\n#define POSTHORN_Y(a) a\n")

    def page(self, more):
        self.write(check_api.PAGE, "# API\n\n```cpp\nx\n```\n`node` `query<T>(f)` `colour` `red` "
                   f"`green` `later` `go` `flow` `wait` `POSTHORN_X`\n{more}")

    def test_a_page_with_every_name_passes(self):
        self.assert_clean(check_api)

    def test_a_name_that_is_not_on_the_page(self):
        for added in ["void added(int with = 3);", "struct added {};", "inline constexpr int added = 1;",
                      "template <class T>\ninline constexpr bool added = true;"]:
            self.header(added)
            self.assert_found(check_api, f"{check_api.PAGE}:1",
                              "`added` of <posthorn/node.hpp> is not on the page", "in a line")

    def test_a_row_for_what_is_in_no_header(self):
        self.page("\n| name | is |\n|---|---|\n| `gone(x)` | y |\n")
        self.assert_found(check_api, f"{check_api.PAGE}:10", "`gone` is in no public header",
                          "correct the name")
