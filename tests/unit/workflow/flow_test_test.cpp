#include <cstdint>
#include <set>
#include <string>
#include <vector>

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

std::string failure_of(const auto& call) {
    try {
        call();
    } catch (const flow_test_failed& failure) {
        return failure.what();
    }
    return "nothing was thrown";
}

workflow<receipt> approve(flow<phase>& f, std::string id, std::int64_t cents) {
    f.log("begun");
    const auto answer = co_await f.wait(the<&decided::order_id> == id).within(72h);
    if (!answer) throw failed("late");
    f.state.now = answer->by;
    co_return co_await f.call<billing>(charge{id, cents}).undo(refund{id});
}

TEST(flow_test, plays_a_workflow_in_memory) {
    posthorn::flow_test t(approve, "o1", 995);
    EXPECT_EQ(t.status(), flow_status::running);
    EXPECT_THAT(t.waits_for(),
                ElementsAre(R"(Decided where orderId == "o1")", "2026-01-04T00:00:00.000Z"));
    t.signal(decided{"o2", "bob"});
    t.advance(71h);
    t.signal(decided{"o1", "ann"});
    auto call = t.expect_call<charge>();
    EXPECT_EQ(call.payload().cents, 995);
    call.answer(receipt{"r1"});
    EXPECT_EQ(t.result(), receipt{"r1"});
    EXPECT_EQ(t.state(), phase{"ann"});
    EXPECT_THAT(t.log(), ElementsAre("begun"));
    EXPECT_THAT(t.history(), ElementsAre("1 start: wait for Decided, sleep",
                                         "2 signalled 1: call billing/v1/Charge", "3 answered 3"));
    t.crash_everywhere();
}

TEST(flow_test, keeps_a_signal_that_comes_early) {
    posthorn::flow_test t(+[](flow<>& f) static -> workflow<std::string> {
        co_await f.sleep(1h);
        co_return (co_await f.wait<decided>()).by;
    });
    t.signal(decided{"o1", "ann"});
    EXPECT_EQ(t.status(), flow_status::running);
    t.advance(1h);
    EXPECT_EQ(t.result(), "ann");
}

TEST(flow_test, time_passes_at_the_time_of_each_sleep) {
    posthorn::flow_test t(+[](flow<>& f) static -> workflow<std::string> {
        std::string seen;
        for (int turn = 0; turn < 3; ++turn) {
            co_await f.sleep(1h);
            seen += to_iso8601(f.now()).substr(11, 3);
        }
        co_return seen;
    });
    t.advance(1h - 1ms);
    EXPECT_THAT(t.history(), ElementsAre("1 start: sleep")) << "none is early";
    t.advance(24h);
    EXPECT_EQ(t.result(), "01:02:03:");
    EXPECT_EQ(t.now(),
              wall_time(std::chrono::sys_days{std::chrono::January / 2 / 2026}) + 1h - 1ms);
}

TEST(flow_test, says_what_the_workflow_waits_for_where_the_test_is_wrong) {
    posthorn::flow_test t(approve, "o1", 995);
    const std::string waits =
        R"(it waits for: Decided where orderId == "o1"; 2026-01-04T00:00:00.000Z)";
    EXPECT_EQ(failure_of([&] { static_cast<void>(t.expect_call<charge>()); }),
              "the workflow has no open call to Charge; " + waits);
    EXPECT_EQ(failure_of([&] { static_cast<void>(t.expect_run()); }),
              "the workflow has no open run; " + waits);
    EXPECT_EQ(failure_of([&] { static_cast<void>(t.result()); }),
              "the workflow is not over; " + waits);
    t.advance(72h);
    EXPECT_EQ(failure_of([&] { static_cast<void>(t.result()); }), "the workflow is failed: late");
    EXPECT_EQ(t.failure(), "late");
}

TEST(flow_test, plays_failures_undos_and_a_cancellation) {
    posthorn::flow_test refused(approve, "o1", 995);
    refused.signal(decided{"o1", "ann"});
    refused.expect_call<charge>().refuse("no such card");
    EXPECT_EQ(refused.failure(), "billing/v1/Charge: no such card") << "there is nothing to undo";

    posthorn::flow_test given_up(approve, "o1", 995);
    given_up.signal(decided{"o1", "ann"});
    given_up.expect_call<charge>().give_up("no answer");
    given_up.expect_call<refund>().answer();
    EXPECT_EQ(given_up.failure(), "billing/v1/Charge: no answer");
    given_up.crash_everywhere();
    given_up.explore(50, [&] { EXPECT_EQ(given_up.status(), flow_status::failed); });

    posthorn::flow_test cancelled(approve, "o1", 995);
    cancelled.cancel("the customer left");
    EXPECT_EQ(cancelled.cancellation(), "the customer left");
    cancelled.explore(50, [&] { EXPECT_EQ(cancelled.status(), flow_status::cancelled); });
}

TEST(flow_test, runs_functions_or_answers_for_them) {
    const auto code = +[](flow<>& f) static -> workflow<std::int64_t> {
        const auto rows = co_await f.run([] { return std::vector<int>{1, 2}; });
        co_return co_await f.transact([rows](transaction&) { return std::int64_t(rows.size()); });
    };
    posthorn::flow_test t(code);
    t.expect_run().run();
    t.expect_transact().answer(std::int64_t{7});
    EXPECT_EQ(t.result(), 7);

    posthorn::flow_test refused(code);
    refused.expect_run().refuse("gone");
    EXPECT_EQ(refused.failure(), "gone");
}

int times_begun = 0;  // What a workflow must not have.

workflow<void> counting(flow<>& f) { co_await f.sleep(std::chrono::hours(++times_begun)); }

TEST(flow_test, finds_a_workflow_that_depends_on_what_is_not_recorded) {
    EXPECT_EQ(failure_of([] { posthorn::flow_test t(counting); }),
              "the workflow did something else when it was repeated, step 1: recorded sleep, the "
              "code now sleeps until another time");
}

int runs = 0;

workflow<void> changing_later(flow<>& f) {
    const auto run = ++runs;
    co_await f.sleep(1h);
    co_await f.sleep(std::chrono::hours(run > 5 ? 2 : 1));
}

TEST(flow_test, crashes_everywhere_find_what_a_single_repetition_does_not) {
    posthorn::flow_test t(changing_later);
    t.advance(1h);
    EXPECT_EQ(runs, 3);
    EXPECT_THAT(failure_of([&] { t.crash_everywhere(); }), HasSubstr("step 2: recorded sleep"));
}

workflow<std::string> order_matters(flow<>& f) {
    std::vector<pending<receipt>> calls;
    for (const auto* const id : {"a", "b", "c"}) calls.push_back(f.call<billing>(charge{id, 1}));
    std::string order;
    for (const auto& each : co_await f.some(3, calls)) order += each.number;
    auto last = co_await f.some(1, calls);
    co_return order + last.front().number;
}

TEST(flow_test, explores_other_orders_of_the_answers) {
    posthorn::flow_test t(order_matters);
    t.expect_call<charge>().answer(receipt{"a"});
    t.expect_call<charge>().answer(receipt{"b"});
    t.expect_call<charge>().answer(receipt{"c"});
    EXPECT_EQ(t.result(), "abca");
    std::set<std::string> seen;
    t.explore(200, [&] { seen.insert(t.result()); });
    EXPECT_THAT(seen, ElementsAre("abca", "abcb", "abcc")) << "each was the first to come";
    EXPECT_EQ(t.result(), "abca") << "the test itself goes on where it was";
}

TEST(flow_test, explores_other_orders_of_signals_of_different_kinds_alone) {
    posthorn::flow_test race(+[](flow<>& f) static -> workflow<std::string> {
        auto left = f.wait<moved>();
        auto settled = f.wait<decided>();
        const auto first = co_await f.first(left, settled);
        co_return first.index() == 0 ? "moved" : "decided";
    });
    race.signal(moved{"ann"});
    race.signal(decided{"o1", "ann"});
    std::set<std::string> seen;
    race.explore(50, [&] { seen.insert(race.result()); });
    EXPECT_THAT(seen, ElementsAre("decided", "moved"));

    posthorn::flow_test queue(+[](flow<>& f) static -> workflow<std::string> {
        auto who = (co_await f.wait<moved>()).who;
        co_return who + (co_await f.wait<moved>()).who;
    });
    queue.signal(moved{"a"});
    queue.signal(moved{"b"});
    queue.explore(50, [&] { EXPECT_EQ(queue.result(), "ab") << "one sender's may have an order"; });
}

TEST(flow_test, names_the_run_in_which_a_check_failed) {
    posthorn::flow_test t(order_matters);
    t.expect_call<charge>().answer(receipt{"a"});
    EXPECT_EQ(failure_of([&] { t.explore(3, [] { throw flow_test_failed("no"); }); }),
              "in run 1 of explore: no");
    EXPECT_EQ(t.status(), flow_status::running);
}

TEST(flow_test, a_bug_holds_the_workflow_for_a_person) {
    posthorn::flow_test t(+[](flow<>& f) static -> workflow<int> {
        co_await f.sleep(1s);
        co_return std::stoi("x");
    });
    t.advance(1s);
    EXPECT_THAT(t.quarantine(), HasSubstr("stoi"));
}

TEST(flow_test, stops_a_workflow_that_never_ends) {
    EXPECT_EQ(failure_of([] {
                  posthorn::flow_test t(+[](flow<>& f) static -> workflow<void> {
                      for (;;) co_await f.sleep(0s);
                  });
              }),
              "the workflow has taken 10000 steps; does it end?");
}

}  // namespace
}  // namespace posthorn
