#include "workflow/runner/flow_server.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/workflow/flows.hpp"
#include "workflow/history.hpp"

namespace posthorn {
namespace {

using detail::event_kind;
using detail::flow_event;
using test::billing;
using test::charge;
using test::phase;
using test::receipt;
using testing::HasSubstr;

workflow<receipt> pay(flow<phase>& f, std::string order) {
    f.state.now = "paying";
    co_return co_await f.call<billing>(charge{order, 5});
}
POSTHORN_WORKFLOW(pay, "Pay", 1)

const detail::workflow_entry* only_pay(std::string_view name, unsigned version) {
    const auto* const found = detail::named_workflow::find(name, version);
    return found != nullptr && found->name() == "Pay" ? found : nullptr;
}

flow_event start(std::string arguments = R"(["o1"])") {
    return {.kind = event_kind::start, .payload = std::move(arguments)};
}
flow_event receipt_of(std::uint32_t command = 1) {
    return {.kind = event_kind::answered, .command = command, .payload = R"({"number":"r1"})"};
}
activation fresh(std::uint64_t key, std::optional<flow_event> event) {
    return {
        .key = key, .is_fresh = true, .workflow = "Pay", .version = 1, .event = std::move(event)};
}
activation next(std::uint64_t key, std::uint32_t before, flow_event event) {
    return {.key = key, .steps_before = before, .event = std::move(event)};
}

completion ask(flow_server& server, activation one) {
    runner_batch batch;
    batch.activations.push_back(std::move(one));
    auto all = server.answer(batch);
    EXPECT_EQ(all.size(), 1U);
    return std::move(all.front());
}

TEST(flow_server, takes_an_instance_from_its_start_to_its_end) {
    flow_server server(&only_pay);
    const auto begun = ask(server, fresh(7, start()));
    ASSERT_EQ(begun.kind, completion_kind::stepped);
    EXPECT_EQ(begun.key, 7U);
    EXPECT_GT(begun.bytes, 0U);
    ASSERT_EQ(begun.step.commands.size(), 1U);
    EXPECT_EQ(begun.step.commands[0].name, "billing/v1/Charge");
    EXPECT_EQ(server.frames(), 1U);
    const auto ended = ask(server, next(7, 1, receipt_of()));
    ASSERT_EQ(ended.kind, completion_kind::stepped);
    EXPECT_EQ(ended.step.status, flow_status::completed);
    EXPECT_EQ(ended.step.result, R"({"number":"r1"})");
    EXPECT_EQ(server.frames(), 0U);
}

TEST(flow_server, builds_a_frame_from_its_history_in_one_or_several_parts) {
    std::vector<std::string> rows;
    {
        flow_server server(&only_pay);
        rows.push_back(to_row(record(start(), ask(server, fresh(1, start())).step)));
    }
    flow_server server(&only_pay);
    auto whole = fresh(1, receipt_of());
    whole.rows = rows;
    EXPECT_EQ(ask(server, whole).step.status, flow_status::completed);
    auto part = fresh(2, {});
    part.rows = rows;
    EXPECT_EQ(ask(server, part).kind, completion_kind::repeated);
    EXPECT_EQ(ask(server, next(2, 1, receipt_of())).step.status, flow_status::completed);
}

TEST(flow_server, says_which_step_came_out_otherwise_and_quotes_nothing) {
    flow_server server(&only_pay);
    auto step = record(start(), ask(server, fresh(1, start())).step);
    step.commands[0].name = "billing/v1/Refund";
    auto other = fresh(2, receipt_of());
    other.rows = {to_row(step)};
    const auto differs = ask(server, other);
    EXPECT_EQ(differs.kind, completion_kind::differs);
    EXPECT_THAT(differs.why, HasSubstr("step 1: recorded call billing/v1/Refund"));
    EXPECT_THAT(differs.why, testing::Not(HasSubstr("o1")));
    other.rows = {"{"};
    EXPECT_EQ(ask(server, other).kind, completion_kind::damaged);
    EXPECT_EQ(server.frames(), 1U);  // The first one alone.
}

TEST(flow_server, tells_a_frame_that_is_not_there_or_another_from_a_sound_one) {
    flow_server server(&only_pay);
    EXPECT_EQ(ask(server, next(1, 0, start())).kind, completion_kind::stale);
    EXPECT_EQ(ask(server, fresh(1, start())).kind, completion_kind::stepped);
    EXPECT_EQ(ask(server, next(1, 2, receipt_of())).kind, completion_kind::stale);
    EXPECT_EQ(ask(server, next(1, 0, receipt_of())).kind, completion_kind::stale);
    EXPECT_EQ(ask(server, next(1, 1, receipt_of(9))).kind, completion_kind::stale);
    EXPECT_EQ(server.frames(), 0U);  // One that was fed what it does not know is dropped.
    auto unknown = fresh(3, start());
    unknown.version = 2;
    EXPECT_EQ(ask(server, unknown).kind, completion_kind::unknown);
    EXPECT_EQ(ask(server, fresh(4, start("[]"))).step.status, flow_status::quarantined);
}

TEST(flow_server, ignores_what_comes_twice_and_forgets_what_is_released) {
    flow_server server(&only_pay);
    EXPECT_EQ(ask(server, fresh(1, start())).kind, completion_kind::stepped);
    EXPECT_EQ(ask(server, next(1, 1, start())).kind, completion_kind::ignored);
    EXPECT_EQ(server.frames(), 1U);
    EXPECT_TRUE(server.answer({.released = {1, 2}}).empty());
    EXPECT_EQ(server.frames(), 0U);
}

TEST(flow_server, answers_in_the_order_of_the_batch) {
    flow_server server(&only_pay);
    runner_batch batch;
    for (const std::uint64_t key : {9U, 3U, 5U}) batch.activations.push_back(fresh(key, start()));
    const auto all = server.answer(batch);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].key, 9U);
    EXPECT_EQ(all[1].key, 3U);
    EXPECT_EQ(all[2].key, 5U);
}

}  // namespace
}  // namespace posthorn
