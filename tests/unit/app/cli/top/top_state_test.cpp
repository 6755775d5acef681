#include "app/cli/top/top_state.hpp"

#include <algorithm>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using page = top_state::page;

overview node_with(std::size_t lanes, std::size_t queues = 0, std::size_t reasons = 1) {
    overview node{.service = "orders",
                  .light = "red",
                  .pending = 120,
                  .dead = 3,
                  .sent_per_second = 12.34,
                  .send_ms = 1.5};
    for (std::size_t i = 0; i < reasons; ++i) node.reasons.push_back("reason " + std::to_string(i));
    for (std::size_t i = 0; i < lanes; ++i)
        node.lanes.push_back({.destination = "to" + std::to_string(i),
                              .state = "running",
                              .waiting = static_cast<std::int64_t>(i),
                              .oldest = 90s});
    for (std::size_t i = 0; i < queues; ++i)
        node.queues.push_back({.name = "Queue" + std::to_string(i), .given_up = 1});
    return node;
}

top_state state_with(std::size_t lanes, std::size_t queues = 0, std::size_t reasons = 1) {
    top_state state;
    update(state, node_with(lanes, queues, reasons));
    return state;
}

void press(top_state& state, top_key key) { std::ignore = step(state, key); }

std::string text_of(const std::vector<std::string>& rows) {
    std::string text;
    for (const auto& each : rows) text += each + '\n';
    return text;
}

TEST(top_state, knows_its_keys_and_leaves_out_others) {
    using enum top_key;
    EXPECT_THAT(keys_in("jk\033[A\033[B\r\nprt?q"),
                ElementsAre(down, up, up, down, enter, enter, pause, resume, try_now, help, quit));
    EXPECT_THAT(keys_in("\033"), ElementsAre(back));
    EXPECT_THAT(keys_in("\033[D\177"), ElementsAre(back, back));
    EXPECT_THAT(keys_in("\033[1;5q\033[15~x\033[5~j"), ElementsAre(down));
}

TEST(top_state, selects_and_stays_where_it_is_while_others_come_and_go) {
    auto state = state_with(3);
    EXPECT_EQ(state.selected, "to0");
    EXPECT_EQ(step(state, top_key::up), top_action::none);
    EXPECT_EQ(state.selected, "to0");
    press(state, top_key::down);
    press(state, top_key::down);
    press(state, top_key::down);
    EXPECT_EQ(state.selected, "to2");
    auto more = node_with(3);
    more.lanes.insert(more.lanes.begin(), {.destination = "another"});
    update(state, more);
    EXPECT_EQ(state.selected, "to2");
    update(state, node_with(1));
    EXPECT_EQ(state.selected, "to0");
    update(state, node_with(0));
    EXPECT_EQ(state.selected, "");
}

TEST(top_state, does_for_each_key_what_its_table_says) {
    struct row {
        page before;
        top_key key;
        top_action done;
        page after;
    };
    using enum top_key;
    for (const auto& [before, key, done, after] :
         {row{page::overview, enter, top_action::look, page::destination},
          row{page::overview, back, top_action::none, page::overview},
          row{page::overview, pause, top_action::pause, page::overview},
          row{page::overview, resume, top_action::resume, page::overview},
          row{page::overview, try_now, top_action::try_now, page::overview},
          row{page::overview, help, top_action::none, page::help},
          row{page::overview, quit, top_action::quit, page::overview},
          row{page::destination, down, top_action::look, page::destination},
          row{page::destination, enter, top_action::none, page::destination},
          row{page::destination, back, top_action::none, page::overview},
          row{page::destination, pause, top_action::pause, page::destination},
          row{page::destination, quit, top_action::quit, page::destination},
          row{page::help, pause, top_action::none, page::help},
          row{page::help, help, top_action::none, page::overview},
          row{page::help, back, top_action::none, page::overview},
          row{page::help, quit, top_action::quit, page::help}}) {
        auto state = state_with(2);
        state.shown = before;
        EXPECT_EQ(step(state, key), done) << static_cast<int>(before) << static_cast<int>(key);
        EXPECT_EQ(state.shown, after) << static_cast<int>(before) << static_cast<int>(key);
    }
    auto empty = state_with(0);
    for (const auto key : {enter, pause, resume, try_now, up, down})
        EXPECT_EQ(step(empty, key), top_action::none);
    EXPECT_EQ(empty.shown, page::overview);
}

TEST(top_state, leaves_the_page_of_a_destination_that_is_gone) {
    auto state = state_with(2);
    press(state, top_key::enter);
    update(state, node_with(0));
    EXPECT_EQ(state.shown, page::overview);
}

TEST(top_drawing, shows_the_light_its_reasons_the_rates_and_every_destination) {
    const auto rows = draw(state_with(2, 1), {80, 24});
    const auto text = text_of(rows);
    EXPECT_EQ(rows.size(), 24U);
    EXPECT_EQ(rows[0], "orders red");
    EXPECT_EQ(rows[1], "  reason 0");
    EXPECT_THAT(rows[2], StartsWith("out 12.3/s  in -  sending 1.5 ms"));
    EXPECT_THAT(rows[3], StartsWith("waiting 120  dead 3"));
    EXPECT_THAT(text, HasSubstr("> to0"));
    EXPECT_THAT(text, HasSubstr("  to1          running  1        2m"));
    EXPECT_THAT(text, HasSubstr("  Queue0"));
    EXPECT_THAT(rows[23], HasSubstr("q: quit"));
}

TEST(top_drawing, never_draws_past_the_terminal_and_keeps_the_selected_one_in_sight) {
    for (const terminal_extent size :
         {terminal_extent{80, 24}, {80, 8}, {20, 5}, {300, 60}, {1, 1}, {10, 2}, {0, 0}})
        for (const auto shown : {page::overview, page::destination, page::help})
            for (const std::size_t lanes : {0U, 1U, 100U}) {
                auto state = state_with(lanes, lanes, lanes);
                state.shown = shown;
                state.messages = "ID\n" + std::string(500, 'x') + "\nb\nc\n";
                state.dead = "ID\nü\n";
                const auto rows = draw(state, size);
                EXPECT_EQ(rows.size(), size.columns == 0 ? 0 : size.rows);
                for (const auto& each : rows)
                    EXPECT_LE(
                        std::ranges::count_if(each, [](char c) { return (c & 0xC0) != 0x80; }),
                        static_cast<std::ptrdiff_t>(size.columns));
            }
    auto many = state_with(100);
    for (int i = 0; i < 70; ++i) press(many, top_key::down);
    EXPECT_THAT(text_of(draw(many, {80, 24})), HasSubstr("> to70"));
    for (int i = 0; i < 70; ++i) press(many, top_key::down);
    EXPECT_THAT(text_of(draw(many, {80, 24})), HasSubstr("> to99"));
}

TEST(top_drawing, tells_old_numbers_from_new_ones_and_what_a_key_did) {
    auto state = state_with(1);
    state.trouble = "connection refused";
    state.note = "to0 is paused";
    const auto rows = draw(state, {80, 24});
    EXPECT_THAT(text_of(rows), HasSubstr("no answer, so this is old: connection refused"));
    EXPECT_EQ(rows.back(), "to0 is paused");
    state.note = std::string(60, 'a') + " " + std::string(60, 'b');
    EXPECT_THAT(text_of(draw(state, {80, 24})),
                EndsWith("\n" + std::string(60, 'a') + "\n" + std::string(60, 'b') + "\n"))
        << "it is read to its end";
    update(state, node_with(1));
    EXPECT_THAT(text_of(draw(state, {80, 24})), Not(HasSubstr("no answer")));
    press(state, top_key::up);
    EXPECT_THAT(draw(state, {80, 24}).back(), HasSubstr("q: quit"));
}

TEST(top_drawing, shows_the_messages_and_the_dead_of_a_destination) {
    auto state = state_with(2);
    press(state, top_key::enter);
    state.messages = "ID  STATUS\n0199  Pending\n";
    state.dead = "none\n";
    const auto text = text_of(draw(state, {80, 24}));
    EXPECT_THAT(text, StartsWith("to0 running\n"));
    EXPECT_THAT(text, HasSubstr("\ndead\nnone\n"));
    EXPECT_THAT(text, HasSubstr("\nnewest\nID  STATUS\n0199  Pending\n"));
    EXPECT_THAT(text, Not(HasSubstr("to1")));
}

}  // namespace
}  // namespace posthorn::cli
