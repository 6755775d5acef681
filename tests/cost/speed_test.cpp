// What the descriptions that Posthorn was drawn from hope for, counted in what no neighbour on the
// machine changes: timers waited for, syncs, processor time. `bench/compare` measures in earnest.
#include <boost/json.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/temporary_directory.hpp"
#include "cost/message_costs.hpp"
#include "support/process.hpp"

namespace posthorn::cost {
namespace {

class speed : public ::testing::Test {
protected:
    double measure(std::vector<std::string> command, const std::string& field) {
        for (const auto* more : {"--json", "--folder"}) command.emplace_back(more);
        command.push_back(place_.path().string());
        const auto done = test::run_process(command);
        EXPECT_EQ(done.end, (test::process_end{.exit_code = 0})) << done.err;
        if (done.out.empty()) return std::numeric_limits<double>::quiet_NaN();
        const auto seen = boost::json::parse(done.out).at(field).to_number<double>();
        fmt::print("{}: {:.1f}\n", field, seen);
        return seen;
    }

private:
    conformance::temporary_directory place_;
};

TEST_F(speed, a_message_takes_effect_in_the_same_instance_without_waiting_for_a_timer) {
    EXPECT_EQ(waits_of_a_message().at("own_ms"), 0);
}

TEST_F(speed, a_message_of_another_handle_takes_effect_within_one_poll) {
    constexpr double poll_ms = 1'000;
    EXPECT_LE(waits_of_a_message().at("foreign_ms"), poll_ms);
}

TEST_F(speed, a_write_with_a_message_takes_one_sync_as_a_write_alone_does) {
    const auto seen = waits_of_a_message();
    EXPECT_EQ(seen.at("syncs_alone"), 1);
    EXPECT_EQ(seen.at("syncs_with_message"), 1);
}

// Of both sides together, so that one core takes two thousand a second through.
TEST_F(speed, a_message_takes_less_than_half_a_millisecond_of_processor_time) {
    const auto cpu_us = measure({POSTHORN_PROGRAM, "bench", "--seconds", "1"}, "cpu_us");
    EXPECT_GT(cpu_us, 0);
    EXPECT_LT(cpu_us, 500);
}

TEST_F(speed, a_repeat_is_found_in_less_than_1_ms_of_processor_time) {
    const auto p99_us =
        measure({POSTHORN_BENCH_DEDUPE, "--rows", "100000", "--lookups", "4000"}, "cpu_p99_us");
    EXPECT_GT(p99_us, 0);
    EXPECT_LT(p99_us, 1'000);
}

}  // namespace
}  // namespace posthorn::cost
