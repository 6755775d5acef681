// Every bug that is planted in src has to be caught: by which harness, and as what.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "planted/bugs.hpp"
#include "support/process.hpp"

namespace posthorn::planted {
namespace {

namespace fs = std::filesystem;

struct ending {
    bool well = false;
    std::string said{};
};

ending run(const harness& what, std::string_view bug) {
    std::vector<std::string> command{fs::path(POSTHORN_TEST_PROGRAMS) / what.program};
    command.insert(command.end(), what.arguments.begin(), what.arguments.end());
    std::map<std::string, std::string> environment;
    if (!bug.empty())  // With it, what is waited for may not come.
        environment = {{"POSTHORN_PLANTED", std::string(bug)}, {"POSTHORN_TEST_PATIENCE", "5"}};
    if (what.rounds > 0) environment["POSTHORN_PROOF_ROUNDS"] = std::to_string(what.rounds);
    test::process child(command, {.environment = environment});
    const auto end = child.wait(std::chrono::minutes(10));
    EXPECT_TRUE(end.has_value()) << "it does not end: "
                                 << fmt::format("{}", fmt::join(command, " "));
    return {end == test::process_end{0, 0}, child.out() + child.err()};
}

/// Line by line: what matches a whole text recurses once for each character, until the stack ends.
std::string line_with(const std::string& said, const std::string& what) {
    static constexpr std::size_t longest = 2000;
    const std::regex pattern(what);
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line.substr(0, longest), pattern)) return line;
    return {};
}

/// The seed that showed it; empty for a harness that has none.
std::string seed_in(const std::string& said) {
    static const std::regex pattern("seed ([0-9]+): [0-9]+ things are wrong");
    std::smatch found;
    return std::regex_search(said, found, pattern) ? found.str(1) : std::string();
}

/// The same again, but of many worlds only the one.
harness at_seed(harness what, const std::string& seed) {
    std::erase_if(what.arguments, [](const std::string& one) {
        return one.starts_with("--seed=") || one.starts_with("--seeds=");
    });
    what.arguments.push_back("--seed=" + seed);
    return what;
}

std::string contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Which of these stand in a file between other characters than letters and underscores.
std::set<std::string> words_in(const fs::path& path, const std::set<std::string>& wanted) {
    const std::unordered_set<std::string_view> known(wanted.begin(), wanted.end());
    const auto text = contents_of(path);
    std::set<std::string> found;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        if ((c >= 'a' && c <= 'z') || c == '_') continue;
        const auto word = std::string_view(text).substr(begin, i - begin);
        if (word.size() > 8 && known.contains(word)) found.emplace(word);
        begin = i + 1;
    }
    return found;
}

std::set<std::string> asked_for_in_src() {
    static const std::regex question(R"(POSTHORN_PLANTED\((\w+)\))");
    std::set<std::string> names;
    for (const auto& one : fs::recursive_directory_iterator(POSTHORN_SOURCE "/src")) {
        if (one.path().extension() != ".cpp") continue;
        const auto text = contents_of(one.path());
        for (std::sregex_iterator at(text.begin(), text.end(), question), end; at != end; ++at)
            names.insert(at->str(1));
    }
    return names;
}

std::set<std::string> names_of_all() {
    std::set<std::string> names;
    for (const auto& one : bugs()) names.insert(std::string(one.name));
    return names;
}

class bug_in_src : public testing::TestWithParam<bug> {};

INSTANTIATE_TEST_SUITE_P(planted, bug_in_src, testing::ValuesIn(bugs()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(bug_in_src, is_caught) {
    const auto& [name, by, says] = GetParam();
    const auto seen = run(by, name);
    if (seen.well && (seen.said.contains("[  SKIPPED ]") || seen.said.contains("OK (skipped=")))
        GTEST_SKIP() << by.name << " cannot look for it here\n" << seen.said;
    ASSERT_FALSE(seen.well) << by.name << " did not notice\n" << seen.said;
    const auto finding = line_with(seen.said, says);
    ASSERT_FALSE(finding.empty()) << by.name << " noticed something else\n" << seen.said;
    const auto seed = seed_in(seen.said);
    fmt::print("{} is caught by {}{}: {}\n", name, by.name,
               seed.empty() ? "" : " with seed " + seed, finding);

    // The bug is what it noticed.
    const auto without = run(seed.empty() ? by : at_seed(by, seed), "");
    EXPECT_TRUE(without.well) << by.name << " finds fault without the bug\n" << without.said;
}

TEST(planted_bugs, are_twenty_at_least) { EXPECT_GE(bugs().size(), 20U); }

TEST(planted_bugs, are_each_asked_for_in_src_and_each_to_be_caught) {
    EXPECT_EQ(asked_for_in_src(), names_of_all());
}

TEST(planted_bugs, leave_no_trace_in_what_is_shipped) {
    auto traces = names_of_all();
    traces.insert("is_planted");
    for (const auto* const path : {POSTHORN_PROGRAM, POSTHORN_LIBRARY}) {
        auto wanted = traces;
        wanted.insert("outbox_messages");  // What is there is to be seen.
        EXPECT_EQ(words_in(path, wanted), std::set<std::string>{"outbox_messages"}) << path;
    }
    EXPECT_EQ(
        words_in(POSTHORN_TEST_PROGRAMS "/planted/sim_planted", {"is_planted", "dropped_savepoint"})
            .size(),
        2U);
}

}  // namespace
}  // namespace posthorn::planted
