#include "cost/message_costs.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/temporary_directory.hpp"

namespace posthorn::cost {
namespace {

costs report_of(const std::string& how, const load& what, const std::filesystem::path& folder) {
    const auto report = folder / "report";
    const auto command = quiet_pair_command(how, what, folder) + " > '" + report.string() + "'";
    EXPECT_EQ(run_command(command), 0);
    costs seen;
    std::ifstream lines(report);
    std::string name;
    for (double number = 0; lines >> name >> number;) seen[name] = number;
    for (const auto& [each, number] : seen) fmt::print("{} {}\n", each, number);
    return seen;
}

}  // namespace

std::string quiet_pair_command(const std::string& how, const load& what,
                               const std::filesystem::path& folder) {
    return fmt::format("'{}' {} {} {} '{}' {}", POSTHORN_COST_MESSAGE, how, what.together,
                       what.rounds, folder.string(), what.traced);
}

int run_command(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

costs costs_of_a_message(const load& what, const std::filesystem::path& folder) {
    return report_of("count", what, folder);
}

costs waits_of_a_message() {
    const test::temporary_directory place;
    return report_of("wait", {.together = 1, .rounds = 1}, place.path());
}

}  // namespace posthorn::cost
