#include "workflow/runner/step_check.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using detail::command_kind;
using detail::flow_command;
using detail::flow_step;

binary_manifest manifest() {
    return {.head = {"orders", "1", 1},
            .workflows = {{.name = "Pay", .version = 1}},
            .services = {{.name = "billing",
                          .version = 1,
                          .interface = "billing/v1",
                          .messages = {{.name = "Charge", .endpoint = "billing/v1/Charge"},
                                       {.name = "Refund", .endpoint = "billing/v1/Refund"}}}},
            .waits = {{.name = "Decided"}},
            .receives = {{.name = "ChangeCard"}}};
}

/// Text is `[]x\xff`.
flow_step step_with(std::uint32_t number, command_kind kind, std::string_view name,
                    detail::text_slice payload = {0, 2}) {
    flow_step step;
    step.text = "[]x\xff";
    flow_command made{.number = number, .kind = kind};
    made.name = name;
    made.payload = payload;
    if (kind == command_kind::call) made.destination = "billing";
    step.commands.push_back(std::move(made));
    return step;
}

TEST(step_check, passes_what_the_manifest_says) {
    const auto passes = [](const flow_step& step) { return !find_lie(manifest(), step, 4); };
    EXPECT_TRUE(passes(step_with(5, command_kind::call, "billing/v1/Charge")));
    EXPECT_TRUE(passes(step_with(5, command_kind::wait, "Decided")));
    EXPECT_TRUE(passes(step_with(5, command_kind::receive, "ChangeCard")));
    EXPECT_TRUE(passes(step_with(5, command_kind::answer, "ChangeCard")));
    EXPECT_TRUE(passes(step_with(5, command_kind::child, "Pay")));
    EXPECT_TRUE(passes(step_with(5, command_kind::again, "Pay")));
    EXPECT_TRUE(passes(step_with(5, command_kind::attach, "Pay")));
    EXPECT_TRUE(passes(step_with(5, command_kind::sleep, "")));
    EXPECT_TRUE(passes(step_with(5, command_kind::patch, "fees of 2027")));
}

TEST(step_check, tells_every_lie) {
    struct lie {
        std::string_view what;
        std::function<flow_step()> make;
    };
    const auto with = [](flow_step step, auto change) {
        change(step);
        return step;
    };
    const auto call = [] { return step_with(5, command_kind::call, "billing/v1/Charge"); };
    const std::vector<lie> lies{
        {"another call", [] { return step_with(5, command_kind::call, "billing/v2/Charge"); }},
        {"another service",
         [&] { return with(call(), [](flow_step& s) { s.commands[0].destination = "bank"; }); }},
        {"another undo",
         [&] { return with(call(), [](flow_step& s) { s.commands[0].undo_name = "bank/v1/X"; }); }},
        {"an undo that is not JSON",
         [&] {
             return with(call(), [](flow_step& s) {
                 s.commands[0].undo_name = "billing/v1/Refund";
                 s.commands[0].undo = {2, 1};
             });
         }},
        {"a payload that is not JSON",
         [] { return step_with(5, command_kind::call, "billing/v1/Charge", {2, 1}); }},
        {"no payload",
         [] { return step_with(5, command_kind::call, "billing/v1/Charge", {0, 0}); }},
        {"an order key that is not UTF-8",
         [&] {
             return with(call(), [](flow_step& s) { s.commands[0].options.order_key = "\xff"; });
         }},
        {"another signal", [] { return step_with(5, command_kind::wait, "Other"); }},
        {"a Command as a signal", [] { return step_with(5, command_kind::wait, "ChangeCard"); }},
        {"comparisons", [] { return step_with(5, command_kind::wait, "Decided", {2, 1}); }},
        {"another Command", [] { return step_with(5, command_kind::receive, "Decided"); }},
        {"another workflow", [] { return step_with(5, command_kind::child, "Steal"); }},
        {"another to follow", [] { return step_with(5, command_kind::again, "Steal"); }},
        {"another to wait for", [] { return step_with(5, command_kind::attach, "Steal"); }},
        {"an id that is not UTF-8",
         [&] {
             return with(step_with(5, command_kind::child, "Pay"),
                         [](flow_step& s) { s.commands[0].id = {3, 1}; });
         }},
        {"work in the program", [] { return step_with(5, command_kind::transact, ""); }},
        {"work on threads", [] { return step_with(5, command_kind::run, ""); }},
        {"a number before", [] { return step_with(4, command_kind::sleep, ""); }},
        {"a number too far", [] { return step_with(6, command_kind::sleep, ""); }},
        {"undoing a later call",
         [&] { return with(call(), [](flow_step& s) { s.commands[0].undoes = 5; }); }},
        {"answering a later request",
         [&] { return with(call(), [](flow_step& s) { s.commands[0].request = 6; }); }},
        {"dropping what it has not made",
         [&] { return with(call(), [](flow_step& s) { s.dropped = {6}; }); }},
        {"dropping nothing", [&] { return with(call(), [](flow_step& s) { s.dropped = {0}; }); }},
        {"a state",
         [&] { return with(call(), [](flow_step& s) { s.state = detail::text_slice{2, 1}; }); }},
        {"a result",
         [&] {
             return with(call(), [](flow_step& s) {
                 s.status = flow_status::completed;
                 s.result = "x";
             });
         }},
        {"a reason",
         [&] {
             return with(call(), [](flow_step& s) {
                 s.status = flow_status::failed;
                 s.result = "\xff";
             });
         }},
        {"to end and to go on",
         [&] {
             return with(step_with(5, command_kind::again, "Pay"), [](flow_step& s) {
                 s.status = flow_status::completed;
                 s.result = "[]";
             });
         }},
    };
    for (const auto& each : lies) EXPECT_TRUE(find_lie(manifest(), each.make(), 4)) << each.what;
}

TEST(step_check, holds_answers_against_the_batch) {
    runner_batch asked;
    asked.activations.push_back({.key = 1, .event = detail::flow_event{}});
    asked.activations.push_back({.key = 2});
    const auto answers = [](completion_kind first, completion_kind second) {
        std::vector<completion> all;
        all.push_back({.key = 1, .kind = first});
        all.push_back({.key = 2, .kind = second});
        return all;
    };
    using enum completion_kind;
    EXPECT_FALSE(find_lie(asked, answers(stepped, repeated)));
    EXPECT_FALSE(find_lie(asked, answers(unfit, differs)));
    EXPECT_TRUE(find_lie(asked, answers(stepped, stepped)));
    EXPECT_TRUE(find_lie(asked, answers(repeated, repeated)));
    auto other = answers(stepped, repeated);
    other[1].key = 1;
    EXPECT_TRUE(find_lie(asked, other));
    other.pop_back();
    EXPECT_TRUE(find_lie(asked, other));
}

}  // namespace
}  // namespace posthorn
