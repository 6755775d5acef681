#include "support/proof_run.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>

#include "support/temporary_directory.hpp"

namespace posthorn::test {
namespace {

using testing::HasSubstr;

/// Sets a variable for as long as the test runs.
class variable {
public:
    variable(const char* name, const std::string& value) : name_(name) {
        ::setenv(name, value.c_str(), 1);
    }
    ~variable() { ::unsetenv(name_); }
    variable(const variable&) = delete;
    variable& operator=(const variable&) = delete;

private:
    const char* name_;
};

std::vector<std::uint64_t> seeds_of(proof_run::size small) {
    std::vector<std::uint64_t> seen;
    for (proof_run run("some", small); run.goes_on(); run.advance()) seen.push_back(run.seed());
    return seen;
}

TEST(proof_run, does_what_the_harness_says_where_nobody_asks_for_more) {
    EXPECT_THAT(seeds_of({.rounds = 3, .first_seed = 7}), testing::ElementsAre(7, 8, 9));
}

TEST(proof_run, does_as_many_rounds_as_are_asked_for_with_other_seeds) {
    const variable rounds("POSTHORN_PROOF_ROUNDS", "2"), seed("POSTHORN_PROOF_SEED", "40");
    EXPECT_THAT(seeds_of({.rounds = 3}), testing::ElementsAre(40, 41));
}

TEST(proof_run, ends_when_its_time_is_up_and_has_done_one_round_then) {
    const variable seconds("POSTHORN_PROOF_SECONDS", "0");
    EXPECT_THAT(seeds_of({.rounds = 3}), testing::ElementsAre(1));
}

TEST(proof_run, does_not_take_a_mistake_for_a_size) {
    const variable rounds("POSTHORN_PROOF_ROUNDS", "many");
    EXPECT_ANY_THROW(seeds_of({.rounds = 3}));
}

TEST(proof_run, reports_how_far_it_came_and_what_it_saw) {
    const temporary_directory folder;
    const auto file = folder.file("report");
    const variable report("POSTHORN_PROOF_REPORT", file);
    for (proof_run run("kill", {.rounds = 6}); run.goes_on(); run.advance(3)) {
        run.count("kills");
        run.count("messages", 20);
    }
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator(in), {}};
    const auto last = text.substr(text.rfind('\n', text.size() - 2) + 1);
    EXPECT_THAT(last, HasSubstr(R"({"harness":"kill","done":6,"rounds":6,)"));
    EXPECT_THAT(last, HasSubstr(R"("ended":true,"counts":{"kills":2,"messages":40}})"));
}

}  // namespace
}  // namespace posthorn::test
