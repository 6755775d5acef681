// A binary as `posthorn_workflow_binary` makes it: inspected, and run by the real runner.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time/clock.hpp"
#include "workflow/binary/inspection.hpp"
#include "workflow/runner/runner_process.hpp"
#include "workflow/runner/step_check.hpp"
#include "workflow/runner/supervised_runner.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using detail::event_kind;
using detail::flow_event;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string& binary() {
    static const auto bytes = [] {
        std::ifstream file(POSTHORN_FLOWS, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return bytes;
}
std::span<const std::byte> elf() { return std::as_bytes(std::span(binary())); }

binary_manifest manifest() {
    auto seen = inspect_elf(elf(), machine_here());
    EXPECT_TRUE(seen) << seen.error().why;
    return seen ? *std::move(seen) : binary_manifest();
}

supervised_runner runner(std::chrono::milliseconds within = 10min) {
    static const real_clock time;
    return {[] {
                return start_runner(elf(),
                                    {.program = POSTHORN_RUNNER,
                                     .memory_bytes_max = 256UL << 20U,
                                     .ready_within = 10min},
                                    time);
            },
            {.batch_within = within}};
}

runner_work begin(std::uint64_t key, std::string workflow, std::string arguments) {
    return {key, [=](bool) {
                return activation{
                    .key = key,
                    .is_fresh = true,
                    .workflow = workflow,
                    .version = 1,
                    .event = flow_event{.kind = event_kind::start, .payload = arguments}};
            }};
}
runner_work go_on(std::uint64_t key, std::uint32_t before, flow_event event) {
    return {key,
            [=](bool) { return activation{.key = key, .steps_before = before, .event = event}; }};
}
completion only(result<std::vector<runner_outcome>> outcomes) {
    EXPECT_TRUE(outcomes) << outcomes.error().what();
    if (!outcomes || outcomes->size() != 1 || !outcomes->front().answered) {
        ADD_FAILURE() << "not answered";
        return {};
    }
    return std::move(*outcomes->front().answered);
}

TEST(workflow_binary, says_what_it_needs_without_running) {
    const auto seen = manifest();
    EXPECT_EQ(seen.head, (manifest_head{"test-flows", "1.0", 1}));
    ASSERT_EQ(seen.workflows.size(), 2U);
    EXPECT_EQ(seen.workflows[0].name, "Approve");
    ASSERT_EQ(seen.workflows[0].arguments.size(), 1U);
    EXPECT_THAT(seen.workflows[0].state.text, HasSubstr("\"now\""));
    EXPECT_THAT(seen.workflows[0].result.text, HasSubstr("\"number\""));
    EXPECT_EQ(seen.workflows[1].result.text, "null");
    ASSERT_EQ(seen.services.size(), 1U);
    EXPECT_EQ(seen.services[0].interface, "billing/v1");
    EXPECT_NE(seen.find_call("billing/v1/Charge"), nullptr);
    EXPECT_NE(seen.find_call("billing/v1/Refund"), nullptr);  // Of the undo.
    ASSERT_EQ(seen.waits.size(), 1U);
    EXPECT_EQ(seen.waits[0].name, "Decided");
}

TEST(workflow_binary, runs_confined_from_start_to_end) {
    const auto said = manifest();
    auto running = runner();
    const std::vector start{begin(1, "Approve", R"(["o1"])")};
    const auto begun = only(running.run(start));
    ASSERT_EQ(begun.kind, completion_kind::stepped);
    EXPECT_EQ(find_lie(said, begun.step, 0), std::nullopt);
    ASSERT_EQ(begun.step.commands.size(), 1U);
    EXPECT_EQ(begun.step.commands[0].name, "billing/v1/Charge");
    EXPECT_EQ(begun.step.commands[0].undo_name, "billing/v1/Refund");

    const std::vector paid{
        go_on(1, 1, {.kind = event_kind::answered, .command = 1, .payload = R"({"number":"r1"})"})};
    const auto waits = only(running.run(paid));
    ASSERT_EQ(waits.kind, completion_kind::stepped);
    EXPECT_EQ(find_lie(said, waits.step, 1), std::nullopt);
    ASSERT_EQ(waits.step.commands.size(), 2U);
    EXPECT_EQ(waits.step.of(*waits.step.state), R"({"now":"waiting"})");

    const std::vector told{go_on(1, 2,
                                 {.kind = event_kind::signalled,
                                  .command = 2,
                                  .payload = R"({"orderId":"o1","by":"ann"})"})};
    const auto ended = only(running.run(told));
    EXPECT_EQ(find_lie(said, ended.step, 3), std::nullopt);
    EXPECT_EQ(ended.step.status, flow_status::completed);
    EXPECT_EQ(ended.step.result, R"({"number":"r1"})");
    EXPECT_EQ(running.starts(), 1U);
}

TEST(workflow_binary, that_kills_its_runner_harms_only_the_instance_that_does) {
    auto running = runner();
    const std::vector work{begin(1, "Approve", R"(["o1"])"), begin(2, "Misbehave", R"(["crash"])"),
                           begin(3, "Approve", R"(["o3"])")};
    const auto outcomes = running.run(work);
    ASSERT_TRUE(outcomes) << outcomes.error().what();
    EXPECT_TRUE(outcomes->at(0).answered);
    EXPECT_FALSE(outcomes->at(1).answered);
    EXPECT_THAT(outcomes->at(1).fault, HasSubstr("ended by signal"));
    EXPECT_TRUE(outcomes->at(2).answered);
}

TEST(workflow_binary, that_takes_all_memory_is_held) {
    auto running = runner();
    const std::vector work{begin(1, "Misbehave", R"(["memory"])")};
    const auto outcomes = running.run(work);
    ASSERT_TRUE(outcomes) << outcomes.error().what();
    // Want of memory is an exception in the code, or the end of its process; either way it goes no
    // further.
    const auto& one = outcomes->front();
    EXPECT_TRUE(!one.answered || one.answered->step.status == flow_status::quarantined);
}

TEST(workflow_binary, that_never_answers_is_held) {
    auto running = runner(500ms);
    const std::vector work{begin(1, "Misbehave", R"(["spin"])")};
    const auto outcomes = running.run(work);
    ASSERT_TRUE(outcomes) << outcomes.error().what();
    EXPECT_THAT(outcomes->front().fault, HasSubstr("in its time"));
}

TEST(workflow_binary, lacks_what_it_does_not_name) {
    auto running = runner();
    const std::vector work{begin(1, "Nowhere", "[]")};
    EXPECT_EQ(only(running.run(work)).kind, completion_kind::unknown);
}

}  // namespace
}  // namespace posthorn
