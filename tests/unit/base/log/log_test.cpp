#include "base/log/log.hpp"

#include <atomic>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr wall_time at = wall_time(1'771'070'400'123ms);

class logger_test : public testing::Test {
protected:
    log_options options(log_level level = log_level::info, log_format format = log_format::text) {
        return {.level = level, .format = format, .sink = [this](std::string_view line) {
                    lines.emplace_back(line);
                }};
    }
    std::function<wall_time()> clock() {
        return [this] {
            ++clock_reads;
            return at;
        };
    }

    std::vector<std::string> lines;
    int clock_reads = 0;
};

TEST_F(logger_test, gives_whole_lines_without_an_end_to_its_sink) {
    logger log(options(), clock());
    log.info("Message {Id} sent to {To}", {{"Id", 7}, {"To", "billing"}});
    log.warn("Slow", {{"took", 250ms}});
    EXPECT_THAT(lines, ElementsAre("2026-02-14T12:00:00.123Z [INF] Message 7 sent to billing",
                                   "2026-02-14T12:00:00.123Z [WRN] Slow took=250ms"));
}

TEST_F(logger_test, writes_json_if_asked) {
    logger log(options(log_level::info, log_format::json), clock());
    log.error("Failed", {{"Attempts", 3}});
    EXPECT_THAT(
        lines,
        ElementsAre(
            R"({"time":"2026-02-14T12:00:00.123Z","level":"error","message":"Failed","Attempts":3})"));
}

TEST_F(logger_test, drops_what_is_below_its_level) {
    const std::pair<log_level, std::size_t> cases[] = {{log_level::trace, 5},
                                                       {log_level::debug, 4},
                                                       {log_level::info, 3},
                                                       {log_level::warn, 2},
                                                       {log_level::error, 1}};
    for (const auto& [level, written] : cases) {
        lines.clear();
        logger log(options(level), clock());
        log.trace("t");
        log.debug("d");
        log.info("i");
        log.warn("w");
        log.error("e");
        EXPECT_EQ(lines.size(), written);
        EXPECT_TRUE(log.enabled(level));
        EXPECT_EQ(log.enabled(log_level::trace), level == log_level::trace);
    }
}

TEST_F(logger_test, reads_no_clock_for_a_dropped_line) {
    logger log(options(log_level::warn), clock());
    log.info("dropped");
    EXPECT_EQ(clock_reads, 0);
    log.warn("kept");
    EXPECT_EQ(clock_reads, 1);
}

TEST_F(logger_test, takes_fields_made_at_run_time) {
    logger log(options(), clock());
    const std::vector<log_field> fields{{"A", 1}, {"B", true}};
    log.log(log_level::info, "{A}", fields);
    EXPECT_THAT(lines, ElementsAre("2026-02-14T12:00:00.123Z [INF] 1 B=true"));
}

TEST_F(logger_test, cuts_values_at_its_own_limit) {
    auto short_values = options();
    short_values.value_size_max = 3;
    logger log(short_values, clock());
    log.info("{A}", {{"A", "abcdef"}});
    EXPECT_THAT(lines, ElementsAre("2026-02-14T12:00:00.123Z [INF] abc…"));
}

TEST_F(logger_test, drops_a_line_whose_sink_throws_and_goes_on) {
    testing::internal::CaptureStderr();
    int calls = 0;
    logger log({.sink =
                    [&](std::string_view) {
                        if (++calls == 1) throw std::runtime_error("disk full");
                        if (calls == 2) throw 5;
                    }},
               clock());
    log.info("a");
    log.info("b");
    log.info("c");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "a log of another form helps nobody";
}

TEST_F(logger_test, drops_a_line_whose_clock_throws) {
    logger log(options(), []() -> wall_time { throw std::runtime_error("no time"); });
    log.info("a");
    EXPECT_TRUE(lines.empty());
}

TEST_F(logger_test, writes_one_line_each_to_standard_error_without_a_sink) {
    testing::internal::CaptureStderr();
    logger log({}, clock());
    log.info("one {A}", {{"A", "two\nthree"}});
    log.error("four % {} %v");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "2026-02-14T12:00:00.123Z [INF] one two\\nthree\n"
              "2026-02-14T12:00:00.123Z [ERR] four % {} %v\n");
}

TEST_F(logger_test, gives_its_sink_one_line_at_a_time) {
    std::atomic<bool> inside = false, overlapped = false;
    std::set<std::string> seen;
    const auto sink = [&](std::string_view line) {
        if (inside.exchange(true)) {
            overlapped = true;
            return;
        }
        seen.emplace(line);
        std::this_thread::yield();  // Invites another thread in, if nothing keeps it out.
        inside = false;
    };
    logger log({.sink = sink}, [] { return at; });
    {
        std::latch together(4);
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                together.arrive_and_wait();
                for (int i = 0; i < 500; ++i) log.info("{T}-{I}", {{"T", t}, {"I", i}});
            });
    }
    EXPECT_FALSE(overlapped);
    EXPECT_EQ(seen.size(), 2000u);
}

TEST(null_logger, is_enabled_for_nothing_and_writes_nothing) {
    testing::internal::CaptureStderr();
    logger log = logger::null();
    log.error("nobody sees this", {{"A", 1}});
    EXPECT_FALSE(log.enabled(log_level::error));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace posthorn
