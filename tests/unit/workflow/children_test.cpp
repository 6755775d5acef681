// Workflows that begin others and wait for their ends.
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

struct parcel {
    std::string to;
};
workflow<std::string> ships(flow<>& f, parcel p) {
    co_await f.sleep(1h);
    co_return p.to;
}
POSTHORN_WORKFLOW(ships, "Ships", 1)
workflow<void> bills(flow<>& f, std::int64_t) { co_await f.sleep(1h); }
POSTHORN_WORKFLOW(bills, "Bills", 1)

workflow<std::string> orders(flow<phase>& f, std::string id, int parcels) {
    std::vector<pending_child<std::string>> all;
    for (int i = 1; i <= parcels; ++i)
        all.push_back(f.child(ships, id + "/" + std::to_string(i), parcel{"Berne"}));
    f.start(bills, id, 995);
    f.state.now = "ships";
    std::string labels;
    for (auto& each : all) labels += co_await each;
    co_return labels;
}
POSTHORN_WORKFLOW(orders, "Orders", 1)

TEST(children, give_their_results_and_are_known_by_their_ids) {
    flow_test t(orders, "o1", 2);
    EXPECT_THAT(t.waits_for(), ElementsAre("the end of Ships o1/1", "the end of Ships o1/2"));
    EXPECT_THAT(t.started(), ElementsAre("Bills o1"));
    auto second = t.expect_child(ships, "o1/2");
    EXPECT_EQ(second.arguments(), R"([{"to":"Berne"}])");
    second.complete("b");
    auto first = t.expect_child(ships);
    EXPECT_EQ(first.id(), "o1/1");
    first.complete("a");
    EXPECT_EQ(t.result(), "ab");
    EXPECT_THAT(t.history(), ElementsAre("1 start: child Ships, child Ships, start Bills",
                                         "2 returned 2", "3 returned 1"));
    t.crash_everywhere();
    t.explore(100, [&] { EXPECT_EQ(t.result(), "ab"); });
}

TEST(children, that_fail_or_are_cancelled_are_told_as_what_they_are) {
    flow_test failed_one(orders, "o1", 1);
    failed_one.expect_child(ships).fail("no carrier");
    EXPECT_EQ(failed_one.failure(), "Ships: no carrier");

    flow_test outcome(+[](flow<>& f) static -> workflow<std::string> {
        const auto end = co_await f.child(ships, "s1", parcel{"x"}).as_outcome();
        if (end) co_return *end;
        co_return std::string("instead: ") + end.error().what();
    });
    outcome.expect_child(ships).cancel("nobody is there");
    EXPECT_EQ(outcome.result(), "instead: Ships: nobody is there");

    flow_test caught(+[](flow<>& f) static -> workflow<bool> {
        try {
            co_await f.child(ships, "s1", parcel{"x"});
        } catch (const child_failed& why) {
            co_return why.was_cancelled();
        }
        co_return false;
    });
    caught.expect_child(ships).cancel("enough");
    EXPECT_TRUE(caught.result());
}

TEST(children, are_left_as_was_said_when_their_parent_ends) {
    flow_test t(+[](flow<>& f) static -> workflow<void> {
        const auto one = f.child(ships, "c", parcel{"x"});
        const auto two = f.child(ships, "t", parcel{"x"}).if_parent_ends(child_fate::terminate);
        const auto three = f.child(ships, "a", parcel{"x"}).if_parent_ends(child_fate::abandon);
        auto four = f.child(ships, "done", parcel{"x"});
        co_await four;
    });
    t.expect_child(ships, "done").complete("y");
    EXPECT_EQ(t.status(), flow_status::completed);
    EXPECT_THAT(t.fates(), ElementsAre("cancel Ships c", "terminate Ships t"));
}

TEST(children, are_cancelled_with_their_parent_before_it_has_undone_what_it_did) {
    flow_test t(+[](flow<>& f) static -> workflow<void> {
        co_await f.call<billing>(charge{"o1", 1}).undo(refund{"o1"});
        co_await f.child(ships, "s1", parcel{"x"});
    });
    t.expect_call<charge>().answer(receipt{"r"});
    t.cancel("the customer left");
    EXPECT_THAT(t.fates(), ElementsAre("cancel Ships s1"));
    t.expect_call<refund>().answer();
    EXPECT_EQ(t.cancellation(), "the customer left");
    t.crash_everywhere();
}

TEST(children, may_be_one_of_several_that_are_waited_for) {
    flow_test t(+[](flow<phase>& f) static -> workflow<std::string> {
        auto next = co_await f.first(f.child(ships, "s1", parcel{"x"}), f.sleep(2h));
        if (next.index() == 1) co_return "late";
        co_return std::get<0>(next);
    });
    t.advance(2h);
    EXPECT_EQ(t.result(), "late");
    EXPECT_THAT(t.history(), ElementsAre("1 start: child Ships, sleep", "2 elapsed 2"));
    t.explore(20);
}

TEST(children, of_the_run_before_are_taken_over_by_their_ids) {
    static constexpr auto code = +[](flow<phase>& f, int run) static -> workflow<std::string> {
        auto child = f.child(ships, "s1", parcel{"x"});
        if (run == 2) co_return co_await child;
        co_await f.sleep(1h);
        co_return "not again";
    };
    flow_test t(code, 2);
    t.expect_child(ships, "s1").complete("l");
    EXPECT_EQ(t.result(), "l");
}

TEST(attach, waits_for_the_end_of_any_workflow) {
    flow_test t(+[](flow<>& f) static -> workflow<std::string> {
        const auto end = co_await f.attach(ships, "other").within(1h);
        co_return end ? *end : "late";
    });
    EXPECT_THAT(t.history(), ElementsAre("1 start: attach to Ships, sleep"));
    t.expect_child(ships, "other").complete("l");
    EXPECT_EQ(t.result(), "l");
    EXPECT_THAT(t.fates(), ElementsAre());

    flow_test lost(+[](flow<>& f) static -> workflow<void> { co_await f.attach(bills, "nobody"); });
    lost.expect_child(bills).fail("there is no workflow Bills nobody");
    EXPECT_EQ(lost.failure(), "Bills: there is no workflow Bills nobody");
}

TEST(children, whose_function_has_no_name_hold_the_workflow) {
    static constexpr auto nameless = +[](flow<>&) static -> workflow<void> { co_return; };
    flow_test t(+[](flow<>& f) static -> workflow<void> { co_await f.child(nameless, "n"); });
    EXPECT_THAT(t.quarantine(), HasSubstr("has no name as a workflow"));
}

}  // namespace
}  // namespace posthorn
