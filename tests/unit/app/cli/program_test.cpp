#include "app/cli/program.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/version.hpp>

#include "app/cli/command_form.hpp"
#include "unit/app/cli/run.hpp"

namespace posthorn::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string cli_page() {
    std::ifstream file(std::filesystem::path(POSTHORN_SOURCE) / "docs/reference/cli.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(program, prints_its_help_without_arguments_and_when_asked) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{}, {"help"}, {"--help"}, {"-h"}}) {
        const auto [code, out, err] = run(arguments);
        EXPECT_EQ(code, exit_code::ok);
        EXPECT_EQ(out, program_help());
        EXPECT_EQ(err, "");
    }
    EXPECT_THAT(program_help(), HasSubstr("Exit codes: 0 ok; 1 failed; 2 wrong usage"));
}

TEST(program, explains_every_command_it_knows) {
    for (const auto& entry : command_table()) {
        SCOPED_TRACE(entry.name);
        const std::string name(entry.name);
        const auto asked = run({name, "--help"});
        EXPECT_EQ(asked.code, exit_code::ok);
        EXPECT_THAT(asked.out, StartsWith(std::string(entry.summary)));
        EXPECT_THAT(asked.out, HasSubstr("Usage: posthorn " + name));
        EXPECT_EQ(run({"help", name}).out, asked.out);
        EXPECT_THAT(program_help(), HasSubstr(std::string(entry.summary)));
        EXPECT_THAT(cli_page(), HasSubstr("## `posthorn " + name));
    }
}

TEST(program, documents_every_command_and_every_option) {
    const std::string page = cli_page();
    for (const auto& command : list_commands()) {
        std::string name = "posthorn";
        for (const auto& word : command.path) name += " " + word;
        SCOPED_TRACE(name);
        if (command.members.empty()) {
            EXPECT_THAT(page, HasSubstr("\n## `" + name + "`\n"));
        }
        for (const auto& option : command.options)
            for (const auto& each : option.names) EXPECT_THAT(page, HasSubstr("`" + each + "`"));
    }
}

TEST(program, ends_the_help_of_every_command_with_an_example) {
    for (const auto& command : list_commands()) {
        if (command.path.empty()) continue;  // The program itself, which lists its commands.
        EXPECT_THAT(command.help, HasSubstr("Example")) << command.path.front();
        EXPECT_THAT(command.help, HasSubstr("posthorn " + command.path.front()));
    }
}

TEST(program, names_the_nearest_to_what_a_command_does_not_hold) {
    const auto [code, out, err] = run({"keys", "rotte"});
    EXPECT_EQ(code, exit_code::usage);
    EXPECT_EQ(err,
              "posthorn: unexpected 'rotte'; did you mean 'rotate'? Run 'posthorn keys --help'.\n");
    EXPECT_THAT(run({"keys"}).err, HasSubstr("say what to do: new, rotate, revoke, list, admin."));
    EXPECT_THAT(run({"keys", "rotate", "--help"}).out, HasSubstr("Usage: posthorn keys rotate"));
}

TEST(program, prints_its_versions) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--version"}, {"-V"}, {"version"}}) {
        const auto [code, out, err] = run(arguments);
        EXPECT_EQ(code, exit_code::ok);
        EXPECT_THAT(out, StartsWith("posthorn " + std::string(version) + "\nSQLite 3."));
        EXPECT_THAT(out, HasSubstr("\nBoost 1."));
        EXPECT_THAT(out, HasSubstr("Clang"));
    }
}

TEST(program, prints_its_versions_as_json) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"--version", "--json"},
          {"--json", "--version"},
          {"version", "--json"}}) {
        const auto parsed = boost::json::parse(run(arguments).out);
        EXPECT_EQ(parsed.at("posthorn").as_string(), version);
        for (const std::string_view part : {"sqlite", "boost", "build", "compiler"})
            EXPECT_FALSE(parsed.at(part).as_string().empty()) << part;
    }
}

struct usage_case {
    std::vector<std::string> arguments;
    std::string err;
};

TEST(program, names_the_nearest_to_what_it_does_not_know_and_exits_2) {
    const std::array cases{
        usage_case{
            {"srve"},
            "posthorn: unknown command 'srve'; did you mean 'serve'? Run 'posthorn help'.\n"},
        usage_case{{"xyzzy"}, "posthorn: unknown command 'xyzzy'. Run 'posthorn help'.\n"},
        usage_case{
            {"help", "srve"},
            "posthorn: unknown command 'srve'; did you mean 'serve'? Run 'posthorn help'.\n"},
        usage_case{{"serve", "--lisen=x"},
                   "posthorn: unknown option '--lisen'; did you mean '--listen'? Run 'posthorn "
                   "serve --help'.\n"},
        usage_case{{"--versoin"},
                   "posthorn: unknown option '--versoin'; did you mean '--version'? Run 'posthorn "
                   "--help'.\n"},
        usage_case{{"version", "now"},
                   "posthorn: unexpected 'now'. Run 'posthorn version --help'.\n"},
        usage_case{{"--json"},
                   "posthorn: --json goes with --version or behind a command. Run 'posthorn "
                   "--help'.\n"},
    };
    for (const auto& each : cases) {
        const auto [code, out, err] = run(each.arguments);
        EXPECT_EQ(code, exit_code::usage);
        EXPECT_EQ(out, "");
        EXPECT_EQ(err, each.err);
    }
}

TEST(program, says_which_option_lacks_its_value) {
    const auto [code, out, err] = run({"serve", "--listen"});
    EXPECT_EQ(code, exit_code::usage);
    EXPECT_THAT(err, HasSubstr("--listen"));
    EXPECT_THAT(err, HasSubstr("Run 'posthorn serve --help'."));
}

TEST(program, says_which_option_holds_a_bad_value) {
    const auto [code, out, err] = run({"serve", "--admin", "nowhere"});
    EXPECT_EQ(code, exit_code::usage);
    EXPECT_THAT(err, StartsWith("posthorn: --admin: listen.admin cannot be \"nowhere\"; write "));
}

TEST(exit_code, is_2_for_what_the_user_can_correct_and_1_otherwise) {
    for (const auto& info : error_catalogue()) {
        const bool usage = info.code == error_code::invalid_argument ||
                           info.code == error_code::invalid_configuration ||
                           info.code == error_code::address_unavailable ||
                           info.code == error_code::secret_unavailable ||
                           info.code == error_code::certificate_unusable;
        EXPECT_EQ(exit_code_for(error(info.code, "")), usage ? exit_code::usage : exit_code::failed)
            << info.name;
    }
}

}  // namespace
}  // namespace posthorn::cli
