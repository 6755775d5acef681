#include <csignal>
#include <filesystem>
#include <fstream>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::HasSubstr;
using words = std::vector<std::string>;

const std::string bench_folder = POSTHORN_BENCH_FOLDER;
const std::string built = POSTHORN_BUILD_FOLDER;

/// What measures is asked for what it printed, never for how fast it was.
class bench : public testing::Test {
protected:
    /// Runs it in a folder of its own, and expects that nothing is left there.
    json::value run(words command) {
        for (const auto* more : {"--json", "--folder"}) command.emplace_back(more);
        command.push_back(folder_.path());
        test::process child(command);
        const auto end = child.wait(std::chrono::minutes(10));
        EXPECT_EQ(end, (test::process_end{0, 0})) << child.err();
        std::error_code why;
        auto parsed = json::parse(child.out(), why);
        EXPECT_FALSE(why) << child.out();
        return parsed;
    }
    void expect_clean() const {
        EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << "it cleans up";
    }

    static double number(const json::value& in, const std::string& field) {
        return in.at(field).to_number<double>();
    }
    static void expect_ordered(const json::value& line, const std::string& prefix) {
        EXPECT_LE(number(line, prefix + "p50_us"), number(line, prefix + "p99_us")) << line;
        EXPECT_LE(number(line, prefix + "p99_us"), number(line, prefix + "p999_us")) << line;
    }
    /// A line of any program that measures both ends.
    static void expect_sane(const json::value& line) {
        EXPECT_GT(number(line, "messages"), 0) << line;
        EXPECT_GT(number(line, "per_second"), 0) << line;
        EXPECT_GT(number(line, "syncs"), 0) << line;
        EXPECT_GT(number(line, "memory_kib"), 0) << line;
        EXPECT_GE(number(line, "cpu_us"), 0) << line;
        EXPECT_GT(number(line, "p50_us"), 0) << line;
        for (const auto* prefix : {"", "commit_", "after_commit_", "both_"})
            expect_ordered(line, prefix);
        EXPECT_GE(number(line, "both_p50_us"), number(line, "commit_p50_us")) << line;
        EXPECT_GE(number(line, "both_p50_us"), number(line, "p50_us")) << line;
    }

    test::temporary_directory folder_;
};

TEST_F(bench, measures_two_services_over_each_transport_and_cleans_up) {
    for (const std::string transport : {"inprocess", "unix", "http"}) {
        SCOPED_TRACE(transport);
        const auto line = run({POSTHORN_PROGRAM, "bench", "--seconds", "0.3", "--senders", "4",
                               "--transport", transport});
        EXPECT_EQ(line.at("transport").as_string(), transport);
        EXPECT_EQ(line.at("mode"), "concurrent");
        EXPECT_EQ(line.at("senders"), 4);
        expect_sane(line);
        expect_clean();
    }
}

TEST_F(bench, measures_one_at_a_time_at_a_rate_and_with_senders_that_are_called_back) {
    const auto serial = run({POSTHORN_PROGRAM, "bench", "--seconds", "0.3", "--serial"});
    EXPECT_EQ(serial.at("mode"), "serial");
    EXPECT_EQ(serial.at("senders"), 1);
    expect_sane(serial);
    const auto rate = run({POSTHORN_PROGRAM, "bench", "--seconds", "0.5", "--rate", "100"});
    EXPECT_EQ(rate.at("messages"), 50) << "as many as were due, however long they took";
    expect_sane(rate);
    const auto chained = run({POSTHORN_PROGRAM, "bench", "--seconds", "0.3", "--callbacks"});
    EXPECT_EQ(chained.at("chained"), true);
    expect_sane(chained);
}

TEST_F(bench, measures_plain_sql_from_a_process_beside_the_node) {
    const auto line =
        run({POSTHORN_PROGRAM, "bench", "--seconds", "0.5", "--rate", "100", "--sql"});
    EXPECT_EQ(line.at("messages"), 50);
    EXPECT_EQ(line.at("note"), "plain SQL");
    expect_sane(line);
    expect_clean();
}

TEST_F(bench, cleans_up_when_it_is_interrupted) {
    test::process child({POSTHORN_PROGRAM, "bench", "--seconds", "600", "--senders", "2",
                         "--folder", folder_.path()});
    ASSERT_TRUE(test::eventually([&] { return !std::filesystem::is_empty(folder_.path()); }));
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait(std::chrono::minutes(5)), (test::process_end{1, 0})) << child.err();
    expect_clean();
}

TEST_F(bench, the_limit_brings_every_message_over_both_transports) {
    for (const std::string transport : {"unix", "http"})
        for (const std::string mode : {"concurrent", "serial", "rate"}) {
            SCOPED_TRACE(transport + " " + mode);
            const auto line = run({built + "/bench/bench_limit", "--seconds", "0.2", "--senders",
                                   "4", "--transport", transport, "--mode", mode});
            EXPECT_EQ(line.at("name"), "limit");
            EXPECT_EQ(line.at("mode").as_string(), mode);
            expect_sane(line);
            expect_clean();
        }
}

TEST_F(bench, tells_webhooks_in_every_way_that_is_measured) {
    const std::vector<std::vector<std::string>> ways{
        {"bench_limit_webhooks", "--events", "50", "--subscribers", "3", "--senders", "4"},
        {"bench_limit_webhooks", "--events", "50", "--subscribers", "3", "--bare"},
        {"bench_webhooks", "--mode", "drain", "--events", "50", "--subscribers", "3"},
    };
    for (auto words : ways) {
        words.front() = built + "/bench/" + words.front();
        const auto line = run(words);
        EXPECT_EQ(number(line, "deliveries"), 150);
        EXPECT_GT(number(line, "per_second"), 0);
        expect_clean();
    }
    const auto rate =
        run({built + "/bench/bench_webhooks", "--mode", "rate", "--rate", "50", "--seconds", "1"});
    EXPECT_GT(number(rate, "events"), 0);
    EXPECT_GT(number(rate, "p50_us"), 0);
    const auto burst =
        run({built + "/bench/bench_webhooks", "--mode", "burst", "--subscribers", "30"});
    EXPECT_GT(number(burst, "last_request_ms"), 0);
    EXPECT_GT(number(burst, "commit_us"), 0);
    expect_clean();
}

TEST_F(bench, runs_what_is_forwarded_by_turns_with_what_is_sent) {
    for (const std::string mode : {"send", "forward", "calls"}) {
        SCOPED_TRACE(mode);
        const auto seen = run(
            {built + "/bench/bench_forward", "--mode", mode, "--count", "100", "--at-once", "8"});
        EXPECT_EQ(number(seen, "count"), 100);
        EXPECT_GT(number(seen, "per_second"), 0);
        expect_clean();
    }
}

TEST_F(bench, runs_workflows_in_every_way_that_is_measured) {
    for (const std::string program : {"bench_limit_workflows", "bench_workflows"}) {
        SCOPED_TRACE(program);
        const auto chains = run({built + "/bench/" + program, "--count", "100", "--at-once", "8"});
        EXPECT_EQ(number(chains, "count"), 100);
        EXPECT_GT(number(chains, "per_second"), 0);
        const auto alone = run({built + "/bench/" + program, "--mode", "alone", "--count", "5"});
        EXPECT_GT(number(alone, "p50_ms"), 0);
        expect_clean();
    }
    const auto load = [this](std::vector<std::string> words) {
        words.insert(words.begin(), {built + "/bench/bench_workflows", "--mode"});
        return run(words);
    };
    EXPECT_GT(number(load({"calls", "--count", "20"}), "per_second"), 0);
    EXPECT_EQ(number(load({"replay", "--count", "100", "--at-once", "4"}), "events"), 100);
    EXPECT_GT(number(load({"long", "--count", "200"}), "last_us"), -1);
    EXPECT_EQ(number(load({"chains", "--count", "20", "--beside", "30"}), "count"), 20);
    expect_clean();
}

TEST_F(bench, looks_repeats_up_in_an_inbox_that_it_filled) {
    const auto line = run({built + "/bench/bench_dedupe", "--rows", "2000", "--lookups", "500"});
    EXPECT_EQ(line.at("rows"), 2000);
    for (const auto* prefix : {"", "new_", "cold_", "cpu_"}) {
        EXPECT_GT(number(line, std::string(prefix) + "p50_us"), 0);
        expect_ordered(line, prefix);
    }
    expect_clean();
}

TEST_F(bench, sweeps_over_senders_and_draws_a_picture) {
    const test::temporary_directory other;
    const auto picture = other.file("picture.svg");
    const auto swept = run({bench_folder + "/end_to_end", "--build", built, "--senders", "1,4",
                            "--seconds", "0.2", "--transports", "unix", "--svg", picture});
    const auto& lines = swept.at("lines").as_array();
    ASSERT_EQ(lines.size(), 5U) << "two numbers of senders, one at a time, two rates";
    for (const auto& line : lines) expect_sane(line);
    std::ifstream file(picture);
    const std::string drawn{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(drawn, AllOf(HasSubstr("<svg"), HasSubstr("<polyline"), HasSubstr("</svg>")));
    expect_clean();
}

TEST_F(bench, compares_with_the_limit_by_turns_and_judges_every_goal) {
    const auto seen =
        run({bench_folder + "/compare", "--build", built, "--rounds", "1", "--seconds", "0.2",
             "--rows", "1000", "--only", "unix concurrent 64|dedupe"});
    for (const auto* key : {"limit unix concurrent 64", "posthorn unix concurrent 64"})
        expect_sane(seen.at("medians").at(key));
    std::vector<std::string> numbers;
    for (const auto& goal : seen.at("goals").as_array()) {
        numbers.emplace_back(goal.at("number").as_string());
        const auto is_measured = std::string_view("1 7 7b 8").contains(numbers.back());
        EXPECT_EQ(!goal.at("value").is_null(), is_measured) << goal;
        EXPECT_EQ(!goal.at("holds").is_null(), is_measured) << goal;
    }
    EXPECT_THAT(numbers, testing::IsSupersetOf({"1", "2", "3", "4", "5", "6", "7", "8", "9"}));
    EXPECT_TRUE(seen.at("failures").as_object().empty()) << seen.at("failures");
}

TEST_F(bench, names_the_packages_of_a_peer_that_is_not_there) {
    const test::temporary_directory empty;
    const auto shown = test::run_process({bench_folder + "/compare", "--build", empty.path(),
                                          "--rounds", "1", "--rows", "0", "--only", "redis"});
    EXPECT_EQ(shown.end, (test::process_end{1, 0}));
    EXPECT_THAT(shown.err, HasSubstr("install redis-server libhiredis-dev"));
}

}  // namespace
}  // namespace posthorn
