#include "workflow/runner/batch.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workflow/runner/frame.hpp"

namespace posthorn {
namespace {

using detail::command_kind;
using detail::event_kind;

runner_batch some_batch() {
    runner_batch batch{.released = {7, 1UL << 60U}};
    batch.activations.push_back(
        {.key = 1,
         .is_fresh = true,
         .workflow = "Approve",
         .version = 3,
         .run = uuid({1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}),
         .rows = {"{}", ""},
         .event = detail::flow_event{.kind = event_kind::answered,
                                     .command = 2,
                                     .may_have_taken_effect = false,
                                     .at = wall_time(std::chrono::milliseconds(-5)),
                                     .payload = "null",
                                     .state = "{}"}});
    batch.activations.push_back({.key = 2, .steps_before = 9});
    return batch;
}

std::vector<completion> some_completions(std::string_view name = "billing/v1/Charge") {
    completion stepped{.key = 1, .kind = completion_kind::stepped, .bytes = 1120};
    auto& step = stepped.step;
    step.text = R"({"cents":5}o1{"now":"x"})";
    detail::flow_command call{.number = 1, .kind = command_kind::call};
    call.destination = "billing";
    call.name = name;
    call.payload = {0, 11};
    call.id = {11, 2};
    call.undo_name = "billing/v1/Refund";
    call.undo = {0, 11};
    call.options = {.order_key = "k",
                    .tenant = "t",
                    .priority = -3,
                    .max_retries = 4,
                    .expires_in = std::chrono::milliseconds(9)};
    step.commands.push_back(std::move(call));
    detail::flow_command sleep{.number = 2, .kind = command_kind::sleep};
    sleep.due = wall_time(std::chrono::milliseconds(1'767'225'600'000));
    step.commands.push_back(std::move(sleep));
    step.dropped = {1};
    step.state = detail::text_slice{13, 11};
    step.log = {"a line"};
    step.has_left = true;
    std::vector<completion> all;
    all.push_back(std::move(stepped));
    all.push_back({.key = 2, .kind = completion_kind::differs, .why = "step 3: …"});
    return all;
}

TEST(batch, reads_as_it_was_written) {
    const auto body = encode_batch(some_batch());
    const auto read = decode_batch(body);
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(encode_batch(*read), body);
    EXPECT_EQ(read->released, some_batch().released);
    ASSERT_EQ(read->activations.size(), 2U);
    EXPECT_EQ(read->activations[0].workflow, "Approve");
    EXPECT_EQ(read->activations[0].run, some_batch().activations[0].run);
    EXPECT_EQ(read->activations[0].rows.size(), 2U);
    EXPECT_EQ(read->activations[0].event->at.time_since_epoch().count(), -5);
    EXPECT_EQ(read->activations[1].steps_before, 9U);
    EXPECT_FALSE(read->activations[1].event);
}

TEST(completions, read_as_they_were_written) {
    const auto body = encode_completions(some_completions());
    name_pool names;
    const auto read = decode_completions(body, names);
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(encode_completions(*read), body);
    const auto& step = read->front().step;
    EXPECT_EQ(step.commands[0].name, "billing/v1/Charge");
    EXPECT_EQ(step.of(step.commands[0].payload), R"({"cents":5})");
    EXPECT_EQ(step.commands[0].options.max_retries, 4);
    EXPECT_EQ(step.commands[0].options.priority, -3);
    EXPECT_EQ(step.of(*step.state), R"({"now":"x"})");
    EXPECT_EQ(read->back().why, "step 3: …");
}

TEST(completions, may_be_as_short_as_can_be) {
    completion bare{.key = 1, .kind = completion_kind::stepped};
    for (const std::uint32_t number : {1U, 2U, 3U})
        bare.step.commands.push_back({.number = number, .kind = command_kind::sleep});
    std::vector<completion> all;
    all.push_back(std::move(bare));
    name_pool names;
    const auto read = decode_completions(encode_completions(all), names);
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->front().step.commands.size(), 3U);
    ASSERT_TRUE(decode_completions(encode_completions({}), names));
    runner_batch batch;
    batch.activations.resize(3);
    EXPECT_TRUE(decode_batch(encode_batch(batch)));
    EXPECT_TRUE(decode_batch(encode_batch({})));
}

TEST(batch, is_refused_wherever_it_is_cut_or_longer) {
    const auto asked = encode_batch(some_batch());
    for (std::size_t size = 0; size < asked.size(); ++size)
        EXPECT_FALSE(decode_batch(std::string_view(asked).substr(0, size))) << size;
    EXPECT_FALSE(decode_batch(asked + '\0'));
    const auto given = encode_completions(some_completions());
    name_pool names;
    for (std::size_t size = 0; size < given.size(); ++size)
        EXPECT_FALSE(decode_completions(std::string_view(given).substr(0, size), names)) << size;
    EXPECT_FALSE(decode_completions(given + '\0', names));
}

TEST(completions, carry_no_functions_and_no_slices_past_their_text) {
    name_pool names;
    for (const auto kind : {command_kind::transact, command_kind::run}) {
        auto all = some_completions();
        all[0].step.commands[1].kind = kind;
        EXPECT_FALSE(decode_completions(encode_completions(all), names));
    }
    for (const auto part : {detail::text_slice{0, 25}, detail::text_slice{25, 0},
                            detail::text_slice{~0U, 2}, detail::text_slice{2, ~0U}}) {
        auto all = some_completions();
        all[0].step.commands[0].payload = part;
        EXPECT_FALSE(decode_completions(encode_completions(all), names)) << part.at;
        all = some_completions();
        all[0].step.state = part;
        EXPECT_FALSE(decode_completions(encode_completions(all), names)) << part.at;
    }
}

TEST(completions, are_bounded) {
    name_pool names;
    const auto body = encode_completions(some_completions());
    EXPECT_FALSE(decode_completions(body, names, {.activations_max = 1}));
    EXPECT_FALSE(decode_completions(body, names, {.commands_max = 1}));
    EXPECT_FALSE(decode_completions(body, names, {.lines_max = 0}));
    EXPECT_FALSE(decode_completions(std::string("\xff\xff\xff\xff", 4), names));
    EXPECT_FALSE(decode_batch(encode_batch(some_batch()), {.activations_max = 1}));
    EXPECT_FALSE(decode_batch(std::string("\xff\xff\xff\x7f", 4)));
    const std::string long_name(name_pool::name_bytes_max + 1, 'x');
    EXPECT_FALSE(decode_completions(encode_completions(some_completions(long_name)), names));
}

TEST(name_pool, keeps_a_name_once_and_not_without_end) {
    name_pool names;
    const auto first = names.keep("a");
    EXPECT_EQ(first->data(), names.keep(std::string("a"))->data());
    for (std::size_t i = 1; i < name_pool::names_max; ++i)
        ASSERT_TRUE(names.keep(std::to_string(i)));
    EXPECT_FALSE(names.keep("one more"));
    EXPECT_EQ(names.keep("a")->data(), first->data());
}

TEST(frame_head, reads_as_it_was_written_and_is_bounded) {
    std::string bytes;
    write_frame_head(bytes, {runner_frame::batch, 77});
    ASSERT_EQ(bytes.size(), frame_head_bytes);
    EXPECT_EQ(*read_frame_head(bytes), (frame_head{runner_frame::batch, 77}));
    EXPECT_FALSE(read_frame_head(bytes, 76));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(read_frame_head(std::string_view(bytes).substr(0, size)));
    for (const std::size_t at : {0U, 3U, 4U, 5U, 7U}) {
        auto other = bytes;
        other[at] = '\x7f';
        EXPECT_FALSE(read_frame_head(other)) << at;
    }
    for (const char kind : {'\0', '\5', '\x7f'}) {
        auto other = bytes;
        other[6] = kind;
        EXPECT_FALSE(read_frame_head(other));
    }
}

}  // namespace
}  // namespace posthorn
