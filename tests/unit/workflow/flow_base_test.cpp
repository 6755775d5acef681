#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/workflow.hpp>

#include "unit/workflow/flows.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using namespace test;
using detail::command_kind;
using detail::event_fit;
using detail::event_kind;
using testing::ElementsAre;

/// A run of a function that is fed by hand.
class fed_flow {
public:
    template <class R, class State, class... Args>
    explicit fed_flow(workflow<R> (*code)(flow<State>&, Args...), std::string arguments = "[]")
        : run_(std::make_unique<detail::flow_run<R, State, Args...>>(code, uuid())) {
        EXPECT_EQ(feed({.kind = event_kind::start, .payload = std::move(arguments)}),
                  event_fit::taken);
    }

    event_fit feed(detail::flow_event event) {
        if (event.at == wall_time()) event.at = wall_time(1s);
        return run_->feed(std::move(event), step);
    }
    event_fit answer(std::uint32_t command, std::string payload = "null") {
        return feed(
            {.kind = event_kind::answered, .command = command, .payload = std::move(payload)});
    }
    event_fit die(std::uint32_t command, bool may_have_taken_effect) {
        return feed({.kind = event_kind::died,
                     .command = command,
                     .may_have_taken_effect = may_have_taken_effect,
                     .payload = "gone"});
    }
    event_fit elapse(std::uint32_t command) {
        return feed({.kind = event_kind::elapsed, .command = command});
    }

    /// What was asked for in the last step: `call billing/v1/Charge {…}`.
    [[nodiscard]] std::vector<std::string> asked() const {
        constexpr std::array names{"call", "wait", "sleep", "transact", "run"};
        std::vector<std::string> all;
        for (const auto& each : step.commands) {
            auto& text = all.emplace_back(names[static_cast<std::size_t>(each.kind)]);
            if (!each.name.empty()) text.append(" ").append(each.name);
            if (each.payload.size != 0) text.append(" ").append(step.of(each.payload));
        }
        return all;
    }
    [[nodiscard]] detail::flow_base& core() const { return *run_; }

    detail::flow_step step;

private:
    std::unique_ptr<detail::flow_base> run_;
};

workflow<receipt> pay(flow<phase>& f, std::string id, std::int64_t cents) {
    f.state.now = "paying";
    co_return co_await f.call<billing>(charge{id, cents});
}

TEST(flow, calls_when_it_starts_and_gives_what_is_answered) {
    fed_flow t(pay, R"(["o1",995])");
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Charge {"orderId":"o1","cents":995})"));
    EXPECT_EQ(t.step.commands[0].destination, "billing");
    EXPECT_EQ(t.step.of(*t.step.state), R"({"now":"paying"})");
    EXPECT_EQ(t.answer(1, R"({"number":"r1"})"), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::completed);
    EXPECT_EQ(t.step.result, R"({"number":"r1"})");
    EXPECT_FALSE(t.step.state) << "it has not changed";
}

TEST(flow, an_event_that_comes_twice_or_for_nothing_changes_nothing) {
    fed_flow t(pay, R"(["o1",995])");
    EXPECT_EQ(t.answer(0), event_fit::stale);
    EXPECT_EQ(t.answer(2), event_fit::stale) << "it has made one command only";
    EXPECT_EQ(t.elapse(1), event_fit::ignored) << "a call does not elapse";
    EXPECT_EQ(t.feed({.kind = event_kind::start}), event_fit::ignored);
    EXPECT_EQ(t.answer(1, R"({"number":"r1"})"), event_fit::taken);
    EXPECT_EQ(t.answer(1, R"({"number":"r2"})"), event_fit::ignored);
    EXPECT_EQ(t.feed({.kind = event_kind::cancel}), event_fit::ignored);
}

TEST(flow, a_frame_that_has_not_begun_is_stale_for_everything) {
    detail::flow_run<receipt, phase, std::string, std::int64_t> run(pay, uuid());
    detail::flow_step step;
    EXPECT_EQ(run.feed({.kind = event_kind::answered, .command = 1}, step), event_fit::stale);
}

TEST(flow, arguments_that_do_not_fit_hold_it_for_a_person) {
    for (const auto* const wrong : {"[]", R"(["o1"])", R"(["o1",995,1])", R"([1,995])", "{}", ""}) {
        fed_flow t(pay, wrong);
        EXPECT_EQ(t.step.status, flow_status::quarantined) << wrong;
        EXPECT_TRUE(t.step.result.starts_with("its arguments do not fit: ")) << t.step.result;
    }
}

workflow<std::string> outcome(flow<>& f) {
    const auto paid = co_await f.call<billing>(charge{"o1", 1}).as_outcome();
    co_return paid ? paid->number : std::string(paid.error().what());
}

TEST(flow, a_failure_can_be_a_value) {
    fed_flow t(outcome);
    EXPECT_EQ(t.die(1, true), event_fit::taken);
    EXPECT_EQ(t.step.result, R"("billing/v1/Charge: gone")");
}

TEST(flow, a_response_that_does_not_fit_is_a_failure_of_the_call) {
    fed_flow t(pay, R"(["o1",995])");
    EXPECT_EQ(t.answer(1, R"({"no":"number"})"), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed);
    EXPECT_THAT(t.step.result, testing::HasSubstr("number"));
}

workflow<std::string> limited_wait(flow<>& f) {
    const auto told = co_await f.wait(the<&decided::order_id> == "o1").within(3s);
    co_return told ? told->by : "late";
}

TEST(flow, a_wait_with_a_limit_ends_with_the_signal_and_drops_its_sleep) {
    fed_flow t(limited_wait);
    EXPECT_THAT(t.asked(), ElementsAre(R"(wait Decided [["orderId","==","text","o1"]])", "sleep"));
    EXPECT_EQ(t.step.commands[1].due, wall_time(4s));
    EXPECT_EQ(t.feed({.kind = event_kind::signalled,
                      .command = 1,
                      .payload = R"({"orderId":"o1","by":"ann"})"}),
              event_fit::taken);
    EXPECT_EQ(t.step.result, R"("ann")");
    EXPECT_THAT(t.step.dropped, ElementsAre(2));
}

TEST(flow, a_wait_with_a_limit_ends_with_the_time_and_drops_its_wait) {
    fed_flow t(limited_wait);
    EXPECT_EQ(t.elapse(2), event_fit::taken);
    EXPECT_EQ(t.step.result, R"("late")");
    EXPECT_THAT(t.step.dropped, ElementsAre(1));
}

TEST(flow, a_signal_that_is_not_what_its_contract_says_leaves_the_wait_as_it_is) {
    fed_flow t(limited_wait);
    EXPECT_EQ(t.feed({.kind = event_kind::signalled, .command = 1, .payload = R"({"by":"ann"})"}),
              event_fit::unfit);
    EXPECT_THAT(t.step.result, testing::HasSubstr("orderId"));
    EXPECT_EQ(t.elapse(2), event_fit::taken);
}

workflow<void> wait_in_service(flow<>& f) {
    co_await f.wait<emp>(the<&moved::who> == "ann");
    co_await f.wait<decided>().exclusive();
}

TEST(flow, a_signal_of_a_service_is_waited_for_by_its_version) {
    fed_flow t(wait_in_service);
    EXPECT_THAT(t.asked(), ElementsAre(R"(wait emp/v2/Moved [["who","==","text","ann"]])"));
    EXPECT_EQ(t.feed({.kind = event_kind::signalled, .command = 1, .payload = R"({"who":"ann"})"}),
              event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre("wait Decided []"));
    EXPECT_TRUE(t.step.commands[0].exclusive);
}

workflow<std::string> three(flow<>& f) {
    std::vector<pending<receipt>> calls;
    for (const auto* const id : {"a", "b", "c"}) calls.push_back(f.call<billing>(charge{id, 1}));
    std::string all;
    for (const auto& each : co_await f.all(std::move(calls))) all += each.number;
    co_return all;
}

TEST(flow, all_makes_every_call_at_once_and_gives_the_answers_in_their_order) {
    fed_flow t(three);
    EXPECT_EQ(t.asked().size(), 3U);
    EXPECT_EQ(t.answer(3, R"({"number":"3"})"), event_fit::taken);
    EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::running);
    EXPECT_EQ(t.answer(2, R"({"number":"2"})"), event_fit::taken);
    EXPECT_EQ(t.step.result, R"("123")");
}

TEST(flow, all_ends_with_the_first_failure) {
    fed_flow t(three);
    EXPECT_EQ(t.answer(3, R"({"number":"3"})"), event_fit::taken);
    EXPECT_EQ(t.die(2, true), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed);
    EXPECT_EQ(t.step.result, "billing/v1/Charge: gone");
}

workflow<std::string> two_of_three(flow<>& f) {
    std::vector<pending<receipt>> calls;
    for (const auto* const id : {"a", "b", "c"}) calls.push_back(f.call<billing>(charge{id, 1}));
    std::string all;
    for (const auto& each : co_await f.some(2, calls)) all += each.number;
    for (const auto& each : co_await f.all(calls)) all += each.number;
    co_return all;
}

TEST(flow, some_gives_as_many_as_it_needs_in_the_order_in_which_they_came) {
    fed_flow t(two_of_three);
    EXPECT_EQ(t.answer(3, R"({"number":"3"})"), event_fit::taken);
    EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::taken);
    EXPECT_EQ(t.answer(2, R"({"number":"2"})"), event_fit::taken);
    EXPECT_EQ(t.step.result, R"("31123")") << "handles that are named can be awaited again";
}

TEST(flow, some_fails_when_too_many_have) {
    fed_flow t(two_of_three);
    EXPECT_EQ(t.die(3, true), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::running);
    EXPECT_EQ(t.die(1, true), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed);
}

workflow<std::string> race(flow<>& f) {
    auto end = f.wait<decided>();
    for (int turn = 0; turn < 3; ++turn) {
        auto next = co_await f.first(end, f.sleep(10s));
        if (next.index() == 0) co_return std::get<0>(next).by;
    }
    co_return "over";
}

TEST(flow, first_drops_the_losers_that_it_owns_and_keeps_those_that_are_named) {
    fed_flow t(race);
    EXPECT_THAT(t.asked(), ElementsAre("wait Decided []", "sleep"));
    EXPECT_EQ(t.elapse(2), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre("sleep")) << "the wait goes on";
    EXPECT_TRUE(t.step.dropped.empty());
    EXPECT_EQ(t.feed({.kind = event_kind::signalled,
                      .command = 1,
                      .payload = R"({"orderId":"o1","by":"ann"})"}),
              event_fit::taken);
    EXPECT_EQ(t.step.result, R"("ann")");
    EXPECT_THAT(t.step.dropped, ElementsAre(3));
    EXPECT_EQ(t.elapse(3), event_fit::ignored);
}

workflow<std::string> both(flow<>& f) {
    auto [paid, nothing] = co_await f.all(f.call<billing>(charge{"a", 1}), f.sleep(1s));
    static_cast<void>(nothing);
    co_return paid.number;
}

TEST(flow, all_of_different_handles_gives_a_tuple) {
    fed_flow t(both);
    EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::running);
    EXPECT_EQ(t.elapse(2), event_fit::taken);
    EXPECT_EQ(t.step.result, R"("1")");
}

workflow<void> undoing(flow<>& f, bool is_cancelled) {
    co_await f.call<billing>(charge{"a", 1}).undo(refund{"a"});
    const auto second = co_await f.call<billing>(charge{"b", 1}).undo(refund{"b"}).as_outcome();
    co_await f.call<billing>(charge{"c", 1}, {.order_key = "c"}).undo(refund{"c"});
    if (is_cancelled) co_await f.sleep(1h);
    throw failed("no luck");
}

TEST(flow, undoes_the_last_call_first_one_after_the_other) {
    fed_flow t(undoing, "[false]");
    EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::taken);
    EXPECT_EQ(t.answer(2, R"({"number":"2"})"), event_fit::taken);
    EXPECT_EQ(t.answer(3, R"({"number":"3"})"), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"c"})"));
    EXPECT_EQ(t.step.commands[0].undoes, 3U);
    EXPECT_EQ(t.step.commands[0].options.order_key, "c") << "or it might come before its call";
    EXPECT_EQ(t.step.status, flow_status::running);
    EXPECT_EQ(t.feed({.kind = event_kind::cancel}), event_fit::ignored);
    EXPECT_EQ(t.answer(4), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"b"})"));
    EXPECT_EQ(t.answer(5), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"a"})"));
    EXPECT_EQ(t.answer(6), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed);
    EXPECT_EQ(t.step.result, "no luck");
}

TEST(flow, does_not_undo_what_surely_had_no_effect_but_what_may_have) {
    for (const bool may_have : {false, true}) {
        fed_flow t(undoing, "[false]");
        EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::taken);
        EXPECT_EQ(t.die(2, may_have), event_fit::taken);
        EXPECT_EQ(t.answer(3, R"({"number":"3"})"), event_fit::taken);
        EXPECT_EQ(t.answer(4), event_fit::taken);
        EXPECT_THAT(t.asked(), ElementsAre(may_have ? R"(call billing/v1/Refund {"orderId":"b"})"
                                                    : R"(call billing/v1/Refund {"orderId":"a"})"));
    }
}

workflow<void> leaves_two_calls(flow<>& f) {
    auto first = f.call<billing>(charge{"a", 1}).undo(refund{"a"});
    auto second = f.call<billing>(charge{"b", 1}).undo(refund{"b"});
    co_await f.sleep(1h);
    throw failed("no luck");
}

TEST(flow, an_undo_under_way_ends_with_its_own_answer_though_its_call_is_given_up_meanwhile) {
    fed_flow t(leaves_two_calls);
    EXPECT_EQ(t.feed({.kind = event_kind::elapsed, .command = 3}), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"b"})"));
    EXPECT_EQ(t.die(2, false), event_fit::ignored);
    EXPECT_EQ(t.answer(4), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"a"})"));
    EXPECT_EQ(t.answer(5), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed);
}

TEST(flow, an_undo_that_is_given_up_holds_it_for_a_person) {
    fed_flow t(undoing, "[false]");
    EXPECT_EQ(t.die(1, true), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre(R"(call billing/v1/Refund {"orderId":"a"})"));
    EXPECT_EQ(t.die(2, true), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::quarantined);
    EXPECT_EQ(t.step.result, "billing/v1/Refund, which undoes command 1, was given up: gone");
}

TEST(flow, is_cancelled_where_it_waits_and_undoes_then) {
    fed_flow t(undoing, "[true]");
    for (std::uint32_t call = 1; call <= 3; ++call)
        EXPECT_EQ(t.answer(call, R"({"number":"1"})"), event_fit::taken);
    EXPECT_THAT(t.asked(), ElementsAre("sleep"));
    EXPECT_EQ(t.feed({.kind = event_kind::cancel, .payload = "the customer left"}),
              event_fit::taken);
    EXPECT_THAT(t.step.dropped, ElementsAre(4));
    for (std::uint32_t undo = 5; undo <= 7; ++undo) EXPECT_EQ(t.answer(undo), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::cancelled);
    EXPECT_EQ(t.step.result, "the customer left");
}

workflow<void> stubborn(flow<>& f) {
    for (;;) {
        try {
            co_await f.sleep(1s);
        } catch (const class cancelled&) {  // Inside there is a function of that name, too.
        }
    }
}

TEST(flow, one_that_never_stops_asking_is_held_for_a_person) {
    fed_flow t(stubborn);
    EXPECT_EQ(t.feed({.kind = event_kind::cancel}), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::quarantined);
    EXPECT_THAT(t.step.result, testing::HasSubstr("10000 commands"));
}

workflow<void> throwing(flow<>& f, std::string what) {
    co_await f.sleep(1s);
    if (what == "permanent") throw permanent(what);
    if (what == "bug") throw std::out_of_range(what);
    if (what == "number") throw 7;
    throw failed(what);
}

TEST(flow, ends_by_what_it_throws) {
    const auto thrown = [](const std::string& what) {
        fed_flow t(throwing, "[\"" + what + "\"]");
        EXPECT_EQ(t.elapse(1), event_fit::taken);
        return std::pair(t.step.status, t.step.result);
    };
    EXPECT_EQ(thrown("failed"), std::pair(flow_status::failed, std::string("failed")));
    EXPECT_EQ(thrown("permanent"), std::pair(flow_status::failed, std::string("permanent")));
    EXPECT_EQ(
        thrown("bug"),
        std::pair(flow_status::quarantined,
                  std::string("the code threw an exception that is not posthorn::failed: bug")));
    EXPECT_EQ(thrown("number").first, flow_status::quarantined);
}

struct measured {
    double value = 0;
};
workflow<double> not_a_number(flow<measured>& f, bool in_state) {
    co_await f.sleep(1s);
    if (in_state) f.state.value = std::numeric_limits<double>::quiet_NaN();
    co_return std::numeric_limits<double>::quiet_NaN();
}

TEST(flow, a_state_or_result_that_json_cannot_say_holds_it_for_a_person) {
    for (const auto* const where : {"[true]", "[false]"}) {
        fed_flow t(not_a_number, where);
        EXPECT_EQ(t.elapse(1), event_fit::taken);
        EXPECT_EQ(t.step.status, flow_status::quarantined) << where;
    }
}

workflow<std::uint8_t> large(flow<>& f) {
    std::array<std::uint8_t, 70'000> local{};
    co_await f.sleep(1s);
    local[f.random() % local.size()] = 1;
    co_return local[f.random() % local.size()];
}

TEST(flow, a_frame_that_is_too_large_holds_it_for_a_person) {
    fed_flow t(large);
    EXPECT_EQ(t.step.status, flow_status::quarantined);
    EXPECT_THAT(t.step.result, testing::HasSubstr("65536 are allowed"));
}

workflow<std::string> functions(flow<>& f) {
    const auto fetched = co_await f.run([](const uuid& key) { return key.to_string(); });
    try {
        co_await f.transact([](transaction& tx) { tx.execute("DELETE FROM t"); });
    } catch (const permanent& why) {
        co_return fetched + why.what();
    }
    co_return fetched;
}

TEST(flow, functions_are_handed_over_and_what_they_give_comes_back) {
    fed_flow t(functions);
    ASSERT_TRUE(t.step.commands[0].run);
    EXPECT_EQ(t.step.commands[0].run(uuid()), R"("00000000-0000-0000-0000-000000000000")");
    EXPECT_EQ(t.feed({.kind = event_kind::done, .command = 1, .payload = R"("x")"}),
              event_fit::taken);
    EXPECT_TRUE(t.step.commands[0].transact);
    EXPECT_EQ(t.feed({.kind = event_kind::refused, .command = 2, .payload = "no table"}),
              event_fit::taken);
    EXPECT_EQ(t.step.result, R"("xno table")");
}

workflow<std::string> chance(flow<>& f) {
    auto text = std::to_string(f.random()) + f.uuid().to_string() + to_iso8601(f.now());
    co_await f.sleep(1s);
    co_return text + to_iso8601(f.now());
}

TEST(flow, chance_and_time_are_those_of_the_run_and_time_never_goes_back) {
    std::array<std::string, 2> seen;
    for (auto& each : seen) {
        fed_flow t(chance);
        EXPECT_EQ(t.feed({.kind = event_kind::elapsed, .command = 1, .at = wall_time(500ms)}),
                  event_fit::taken);
        each = t.step.result;
    }
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_THAT(seen[0], testing::EndsWith("1970-01-01T00:00:01.000Z1970-01-01T00:00:01.000Z\""));
}

workflow<void> late_undo(flow<>& f) {
    auto call = f.call<billing>(charge{"a", 1});
    co_await f.sleep(1s);
    co_await std::move(call).undo(refund{"a"});
}

TEST(flow, an_undo_that_comes_after_its_call_was_recorded_is_a_bug) {
    fed_flow t(late_undo);
    EXPECT_EQ(t.elapse(2), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::quarantined);
    EXPECT_THAT(t.step.result, testing::HasSubstr("where the call, the wait or the child is made"));
}

workflow<void> forgotten(flow<>& f) {
    static_cast<void>(f.call<billing>(charge{"a", 1}).undo(refund{"a"}));
    co_await f.sleep(1s);
    throw failed("no luck");
}

TEST(flow, a_call_that_nothing_waits_for_is_undone_unless_it_surely_had_no_effect) {
    fed_flow t(forgotten);
    EXPECT_EQ(t.answer(1, R"({"number":"1"})"), event_fit::ignored);
    EXPECT_EQ(t.die(1, false), event_fit::taken);
    EXPECT_EQ(t.elapse(2), event_fit::taken);
    EXPECT_EQ(t.step.status, flow_status::failed) << "there is nothing to undo";
}

workflow<int> endless_loop(flow<>& f) {
    for (int turn = 0;; ++turn) {
        const auto told = co_await f.wait<decided>();
        if (told.by == "end") co_return turn;
    }
}

TEST(flow, what_it_holds_in_memory_does_not_grow_with_its_steps) {
    fed_flow t(endless_loop);
    const auto once = t.core().bytes();
    for (std::uint32_t turn = 1; turn <= 5'000; ++turn)
        ASSERT_EQ(t.feed({.kind = event_kind::signalled,
                          .command = turn,
                          .payload = R"({"orderId":"o1","by":"ann"})"}),
                  event_fit::taken);
    EXPECT_EQ(t.core().bytes(), once);
    EXPECT_LT(once, 2'048U);
}

TEST(flow, is_found_by_its_function) {
    static const detail::named_workflow entry(&pay, "Pay", 3);
    const auto* const found =
        detail::named_workflow::find(reinterpret_cast<detail::workflow_entry::any_function>(&pay));
    ASSERT_EQ(found, &entry);
    EXPECT_EQ(found->name(), "Pay");
    EXPECT_EQ(found->version(), 3U);
    EXPECT_EQ(detail::named_workflow::find(
                  reinterpret_cast<detail::workflow_entry::any_function>(&chance)),
              nullptr);
}

}  // namespace
}  // namespace posthorn
