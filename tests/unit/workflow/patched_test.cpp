// What `patched` tells runs of before and of after a change.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/flow_test.hpp>

#include "unit/workflow/flows.hpp"
#include "workflow/history.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace test;
using testing::ElementsAre;

workflow<std::int64_t> pays_a_fee(flow<>& f, std::string id) {
    co_await f.wait(the<&decided::order_id> == id);
    const std::int64_t cents = f.patched("fees of 2027") ? 20 : 10;
    co_await f.call<billing>(charge{id, cents});
    if (f.patched("fees of 2027")) co_await f.sleep(1h);
    co_return cents;
}

TEST(patched, is_true_in_a_run_that_comes_to_it_and_is_recorded_once) {
    flow_test t(pays_a_fee, "o1");
    t.signal(decided{"o1", "ann"});
    t.expect_call<charge>().answer(receipt{"r"});
    t.advance(1h);
    EXPECT_EQ(t.result(), 20);
    EXPECT_THAT(t.history(),
                ElementsAre("1 start: wait for Decided",
                            "2 signalled 1: patch fees of 2027, call billing/v1/Charge",
                            "3 answered 3: sleep", "4 elapsed 4"));
    t.crash_everywhere();
    t.explore(50);
}

TEST(patched, is_false_for_the_rest_of_a_run_that_had_passed_by_before) {
    flow_test t(pays_a_fee, "o1");
    t.without_patch("fees of 2027");
    t.signal(decided{"o1", "ann"});
    EXPECT_EQ(t.expect_call<charge>().payload().cents, 10);
    t.explore(20);
    EXPECT_THROW(t.without_patch("another"), flow_test_failed);
}

workflow<std::int64_t> fee_of_before(flow<>& f, std::string id) {
    co_await f.wait(the<&decided::order_id> == id);
    co_await f.call<billing>(charge{id, 10});
    co_return 10;
}

using fee_code = workflow<std::int64_t> (*)(flow<>&, std::string);
/// The program's code, as of now.
detail::workflow_entry program(fee_code code) {
    return {reinterpret_cast<detail::workflow_entry::any_function>(code), "Fees", 1U,
            &detail::workflow_entry::make<std::int64_t, no_state, std::string>};
}

/// What a run of this code has recorded, up to its call.
std::vector<recorded_step> history_of(fee_code code, detail::flow_step& step) {
    const auto run = program(code).begin(uuid{});
    std::vector<recorded_step> steps;
    const auto feed = [&](const detail::flow_event& event) {
        EXPECT_EQ(run->feed(event, step), detail::event_fit::taken);
        steps.push_back(record(event, step));
    };
    feed({.kind = detail::event_kind::start, .payload = R"(["o1"])"});
    feed({.kind = detail::event_kind::signalled,
          .command = 1,
          .payload = R"({"orderId":"o1","by":"ann"})"});
    return steps;
}

TEST(patched,
     lets_new_code_repeat_what_old_code_has_recorded_and_finds_a_patch_that_was_taken_away) {
    detail::flow_step step;
    const auto old_steps = history_of(&fee_of_before, step);
    EXPECT_TRUE(rebuild(program(&pays_a_fee), uuid{}, old_steps, step));
    const auto new_steps = history_of(&pays_a_fee, step);
    EXPECT_TRUE(rebuild(program(&pays_a_fee), uuid{}, new_steps, step));
    const auto lost = rebuild(program(&fee_of_before), uuid{}, new_steps, step);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error(),
              "step 2: recorded patch fees of 2027, the code now calls billing/v1/Charge");
}

}  // namespace
}  // namespace posthorn
