#include "workflow/history.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/workflow.hpp>

#include "unit/workflow/flows.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace test;
using detail::event_kind;
using detail::flow_event;

// What the code is "now": changed by a test between recording a history and repeating it, as a
// program is by whoever edits it.
enum class version {
    first,
    sleeps,
    other_payload,
    other_name,
    more,
    less,
    other_state,
    other_result,
    throws
};
version now = version::first;  // NOLINT: that is what is tested.

workflow<std::string> edited(flow<phase>& f, std::string id) {
    if (now == version::other_state) f.state.now = "elsewhere";
    co_await f.sleep(1h);
    if (now == version::throws) throw std::logic_error("a bug");
    if (now == version::sleeps) {
        co_await f.sleep(1h);
    } else if (now == version::other_name) {
        co_await f.call<billing>(refund{id});
    } else if (now != version::less) {
        const auto cents = now == version::other_payload ? 2 : 1;
        auto call = f.call<billing>(charge{id, cents});
        if (now == version::more) static_cast<void>(f.wait<decided>());
        co_await call;
    }
    co_return now == version::other_result ? "other" : "done";
}

class history : public testing::Test {
protected:
    history() {
        now = version::first;
        feed({.kind = event_kind::start, .payload = R"(["o1"])"});
        feed({.kind = event_kind::elapsed, .command = 1});
        feed({.kind = event_kind::answered, .command = 2, .payload = R"({"number":"r1"})"});
    }

    void feed(flow_event event) {
        event.at = wall_time(std::chrono::hours(steps.size()));
        EXPECT_EQ(run->feed(event, step), detail::event_fit::taken);
        steps.push_back(record(event, step));
    }

    /// What is said of the history if the code is another now; empty if nothing is.
    std::string repeated(version as, std::size_t count = 3) {
        now = as;
        const auto same = rebuild(code, uuid(), std::span(steps).first(count), step);
        return same ? "" : same.error();
    }

    const detail::workflow_entry code{&edited, "Edited", 1};
    std::unique_ptr<detail::flow_base> run = code.begin(uuid());
    detail::flow_step step;
    std::vector<recorded_step> steps;
};

TEST_F(history, of_the_same_code_comes_out_the_same) {
    EXPECT_EQ(repeated(version::first), "");
    EXPECT_EQ(steps[2].status, flow_status::completed);
    EXPECT_EQ(steps[2].result, R"("done")");
}

TEST_F(history, says_at_which_step_the_code_does_something_else_and_what) {
    EXPECT_EQ(repeated(version::sleeps),
              "step 2: recorded call billing/v1/Charge, the code now sleeps");
    EXPECT_EQ(repeated(version::other_name),
              "step 2: recorded call billing/v1/Charge, the code now calls billing/v1/Refund");
    EXPECT_EQ(repeated(version::other_payload),
              "step 2: recorded call billing/v1/Charge, the code now calls billing/v1/Charge with "
              "another payload or other options");
    EXPECT_EQ(repeated(version::more),
              "step 2: recorded no further command, the code now waits for Decided");
    EXPECT_EQ(repeated(version::less),
              "step 2: recorded call billing/v1/Charge, the code now does not");
    EXPECT_EQ(repeated(version::throws),
              "step 2: the code threw an exception that is not posthorn::failed: a bug");
    EXPECT_EQ(repeated(version::other_result),
              R"(step 3: recorded "completed" "done", the code now is "completed" "other")");
    EXPECT_EQ(repeated(version::other_state),
              R"(step 1: recorded the state {"now":"new"}, now it is {"now":"elsewhere"})");
}

TEST_F(history, quotes_no_payload_where_that_may_not_be) {
    const auto unquoted = [this](version as) {
        now = as;
        return rebuild(code, uuid(), steps, step, {}, quoting::nothing).error();
    };
    EXPECT_EQ(unquoted(version::other_result),
              R"(step 3: recorded "completed", the code now ends with another result)");
    EXPECT_EQ(unquoted(version::other_state), "step 1: recorded a state, the code now has another");
    EXPECT_EQ(unquoted(version::sleeps), repeated(version::sleeps));
}

TEST_F(history, says_how_states_differ_without_quoting_them) {
    const auto difference = [](std::optional<raw_json> recorded, std::optional<raw_json> repeated) {
        return *find_difference(1, {.state = std::move(recorded)}, {.state = std::move(repeated)},
                                quoting::nothing);
    };
    const raw_json old{R"({"now":"new"})"};
    EXPECT_EQ(difference(old, raw_json{R"({"now":"new","by":""})"}),
              "step 1: recorded a state, the code now has one with other fields");
    EXPECT_EQ(difference(old, raw_json{"7"}),
              "step 1: recorded a state, the code now has one with other fields");
    EXPECT_EQ(difference(raw_json{"6"}, raw_json{"7"}),
              "step 1: recorded a state, the code now has another");
    EXPECT_EQ(difference(old, std::nullopt),
              "step 1: recorded a change of the state, the code now leaves it as it was");
    EXPECT_EQ(difference(std::nullopt, old),
              "step 1: recorded no change of the state, the code now changes it");
}

TEST_F(history, tells_the_parts_of_a_difference) {
    EXPECT_EQ(parse_difference(repeated(version::sleeps)),
              (step_difference{2, "call billing/v1/Charge", "sleeps"}));
    EXPECT_EQ(parse_difference("step 3: its row is missing"), (step_difference{.step = 3}));
    for (const auto* other : {"", "step", "step x: recorded a, the code now b", "step 3 is missing",
                              "step 99999999999999999999: recorded a, the code now b"})
        EXPECT_EQ(parse_difference(other), std::nullopt) << other;
}

TEST_F(history, says_that_an_event_came_for_what_is_not_waited_for) {
    steps[1].command = 7;
    EXPECT_EQ(repeated(version::first),
              R"(step 2: recorded that "elapsed" came for command 7, the code now does not wait )"
              "for it");
}

TEST_F(history, goes_on_after_it_was_built_again) {
    for (std::size_t count = 0; count < steps.size(); ++count) {
        auto same = rebuild(code, uuid(), std::span(steps).first(count), step);
        ASSERT_TRUE(same) << same.error();
        for (std::size_t next = count; next < steps.size(); ++next) {
            const flow_event event{.kind = steps[next].cause,
                                   .command = steps[next].command,
                                   .at = wall_time(std::chrono::milliseconds(steps[next].at_ms)),
                                   .payload = steps[next].payload};
            ASSERT_EQ((*same)->feed(event, step), detail::event_fit::taken);
            EXPECT_EQ(record(event, step), steps[next]);
        }
    }
}

TEST_F(history, is_read_as_it_was_written) {
    for (const auto& each : steps) EXPECT_EQ(*parse_row(to_row(each)), each);
}

TEST_F(history, of_a_row_that_has_null_for_the_state_of_the_run_before_has_none) {
    auto begun = steps[0];
    begun.carried = raw_json{};
    ASSERT_THAT(to_row(begun), testing::HasSubstr(R"("carried":null)"));
    steps[0] = *parse_row(to_row(begun));
    EXPECT_EQ(state_carried(steps[0]), "");
    EXPECT_EQ(repeated(version::first), "");
    begun.carried = raw_json{R"({"now":"new"})"};
    EXPECT_EQ(state_carried(begun), R"({"now":"new"})");
}

TEST_F(history, of_which_a_byte_is_damaged_is_refused_or_comes_out_differently) {
    for (std::size_t at = 0; at < steps.size(); ++at) {
        const auto row = to_row(steps[at]);
        for (std::size_t byte = 0; byte < row.size(); ++byte) {
            auto damaged = row;
            damaged[byte] = damaged[byte] == 'x' ? 'y' : 'x';
            const auto read = parse_row(damaged);
            if (!read) continue;
            auto all = steps;
            all[at] = *read;
            const auto same = rebuild(code, uuid(), all, step);
            // What was told from outside is believed; all that the code made of it is compared.
            if (same) EXPECT_EQ(all[at].commands, steps[at].commands) << damaged;
        }
    }
}

workflow<int> replayed_log(flow<>& f) {
    f.log("begun");
    co_await f.sleep(1s);
    co_return 1;
}

TEST(replay, is_silent) {
    const detail::workflow_entry code{&replayed_log, "ReplayedLog", 1};
    auto run = code.begin(uuid());
    detail::flow_step step;
    const flow_event start{.kind = event_kind::start, .payload = "[]"};
    ASSERT_EQ(run->feed(start, step), detail::event_fit::taken);
    EXPECT_THAT(step.log, testing::ElementsAre("begun"));
    const std::vector recorded{record(start, step)};
    ASSERT_TRUE(rebuild(code, uuid(), recorded, step));
    EXPECT_TRUE(step.log.empty());
}

}  // namespace
}  // namespace posthorn
