// Runs that follow one another.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/flow_test.hpp>

#include "unit/workflow/flows.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

struct meter {
    std::int64_t read = 0;
    std::uint64_t chance = 0;
    bool operator==(const meter&) const = default;
};

/// A month in each run.
workflow<std::int64_t> meters(flow<meter>& f, std::string id, int months) {
    if (f.state.chance == 0) f.state.chance = f.random();
    auto moving = f.wait(the<&moved::who> == id);
    for (int day = 0; day < 30; ++day) {
        const auto next = co_await f.first(moving, f.sleep(24h));
        if (next.index() == 0) co_return f.state.read;
        ++f.state.read;
    }
    if (months == 1) co_return f.state.read;
    co_await f.again(meters, id, months - 1);
}
POSTHORN_WORKFLOW(meters, "Meters", 1)

TEST(again, begins_a_run_with_the_state_and_a_history_of_its_own) {
    flow_test t(meters, "m1", 12);
    t.advance(31 * 24h);
    EXPECT_EQ(t.run(), 2U);
    EXPECT_EQ(t.state().read, 31);
    EXPECT_THAT(t.history(), ElementsAre("1 start: wait for Moved, sleep", "2 elapsed 2: sleep"));
    t.crash_everywhere();
    t.advance(400 * 24h);
    EXPECT_EQ(t.run(), 12U);
    EXPECT_EQ(t.result(), 360);
    EXPECT_LT(t.history().size(), 40U) << "a year takes no more room than a month";
}

TEST(again, leaves_the_signals_that_wait_to_the_next_run) {
    flow_test t(+[](flow<meter>& f) static -> workflow<std::string> {
        co_await f.sleep(1h);
        co_return (co_await f.wait<moved>()).who;
    });
    t.signal(moved{"ann"});
    t.advance(1h);
    EXPECT_EQ(t.result(), "ann");

    flow_test year(meters, "m1", 2);
    year.advance(29 * 24h);
    year.explore(30, [&] { EXPECT_EQ(year.state().read, 29); });
    year.advance(24h);
    year.signal(moved{"m1"});
    EXPECT_EQ(year.result(), 30);
    year.explore(30);
}

/// Fails in its second run.
workflow<void> hopes(flow<no_state>& f, int run) {
    co_await f.call<billing>(charge{"o1", 1}).undo(refund{"o1"});
    if (run == 2) throw failed("no");
    co_await f.again(hopes, run + 1);
}
POSTHORN_WORKFLOW(hopes, "Hopes", 1)

TEST(again, lets_a_run_undo_what_it_has_called_itself) {
    flow_test t(hopes, 1);
    t.expect_call<charge>().answer(receipt{"r1"});
    EXPECT_EQ(t.run(), 2U);
    t.expect_call<charge>().answer(receipt{"r2"});
    t.expect_call<refund>().answer();
    EXPECT_EQ(t.failure(), "no");
}

workflow<void> goes_round(flow<no_state>& f, int turn) { co_await f.again(goes_round, turn + 1); }
POSTHORN_WORKFLOW(goes_round, "GoesRound", 1)

TEST(again, that_never_waits_is_stopped_by_a_test) {
    try {
        flow_test t(goes_round, 1);
        FAIL();
    } catch (const flow_test_failed& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("steps; does it end?"));
    }
}

workflow<void> is_another(flow<meter>& f, std::string id, int months) {
    co_await f.sleep(1h);
    co_await f.again(meters, id, months);
}
POSTHORN_WORKFLOW(is_another, "IsAnother", 1)

TEST(again, takes_no_workflow_of_another_name) {
    flow_test t(is_another, "m1", 1);
    try {
        t.advance(1h);
        FAIL();
    } catch (const flow_test_failed& failure) {
        EXPECT_STREQ(failure.what(),
                     "IsAnother goes on as Meters; a run is followed by one of the same name");
    }
}

TEST(again, is_no_more_once_the_workflow_is_cancelled) {
    flow_test t(+[](flow<meter>& f) static -> workflow<void> {
        try {
            co_await f.sleep(1h);
        } catch (const class cancelled&) {
            f.state.read = 1;
        }
        co_await f.again(meters, std::string("m1"), 1);
    });
    t.cancel("enough");
    EXPECT_EQ(t.cancellation(), "enough");
    EXPECT_EQ(t.state().read, 1);
}

/// The state was a number of another workflow before.
struct log_book {
    std::vector<std::string> lines;
};
workflow<void> keeps_a_log(flow<log_book>& f) { co_await f.sleep(1h); }

TEST(again, holds_a_run_whose_state_does_not_fit) {
    const detail::workflow_entry code(
        reinterpret_cast<detail::workflow_entry::any_function>(&keeps_a_log), "Log", 1U,
        &detail::workflow_entry::make<void, log_book>);
    const auto run = code.begin(uuid{});
    detail::flow_step step;
    ASSERT_EQ(
        run->feed({.kind = detail::event_kind::start, .payload = "[]", .state = R"({"lines":7})"},
                  step),
        detail::event_fit::taken);
    EXPECT_EQ(step.status, flow_status::quarantined);
    EXPECT_THAT(step.result, HasSubstr("its state, which the run before left, does not fit"));
}

}  // namespace
}  // namespace posthorn
