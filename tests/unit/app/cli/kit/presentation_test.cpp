#include "app/cli/kit/presentation.hpp"

#include <array>

#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

using namespace std::chrono_literals;

TEST(age, is_rounded_in_the_largest_unit_that_fits) {
    EXPECT_EQ(to_age(-5s), "0s");
    EXPECT_EQ(to_age(0s), "0s");
    EXPECT_EQ(to_age(999ms), "999ms");
    EXPECT_EQ(to_age(59s), "59s");
    EXPECT_EQ(to_age(3min + 59s), "4m");
    EXPECT_EQ(to_age(1min + 20s), "80s") << "a minute would say too little";
    EXPECT_EQ(to_age(1h), "1h");
    EXPECT_EQ(to_age(23h), "23h");
    EXPECT_EQ(to_age(47h + 59min), "2d");
    EXPECT_EQ(to_age(49h), "2d");
}

TEST(distance, says_whether_it_is_past_or_to_come) {
    const wall_time now(1'000s);
    EXPECT_EQ(to_distance(now - 3min, now), "3m ago");
    EXPECT_EQ(to_distance(now + 2h, now), "in 2h");
    EXPECT_EQ(to_distance(now, now), "now");
}

TEST(wrapped, breaks_between_words_and_keeps_lines) {
    using lines = std::vector<std::string>;
    EXPECT_EQ(wrapped("one two three", 7), (lines{"one two", "three"}));
    EXPECT_EQ(wrapped("one\ntwo three", 80), (lines{"one", "two three"}));
    EXPECT_EQ(wrapped("unbreakable word", 5), (lines{"unbreakable", "word"}));
    EXPECT_EQ(wrapped("ä ö ü", 3), (lines{"ä ö", "ü"}));
    EXPECT_EQ(wrapped("as it is", any_length), (lines{"as it is"}));
    EXPECT_EQ(wrapped("", 10), lines{""});
}

TEST(duration, reads_numbers_with_units) {
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("90s"), 90s);
    EXPECT_EQ(parse_duration("1h30m"), 90min);
    EXPECT_EQ(parse_duration("7d"), 168h);
    EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(duration, refuses_everything_else) {
    for (const auto* text : {"", "1", "h", "-1h", "1 h", "1.5h", "1w", "1h ", "99999999999999d",
                             "9999d", "9223372036854775807ms"})
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(cell, holds_nothing_that_moves_the_cursor) {
    EXPECT_EQ(to_cell("a\nb\tc\033[2J\x7F"), "a b c [2J ");
    EXPECT_EQ(to_cell("x\xC2\x9By"), "x y");
    EXPECT_EQ(to_cell("x\x9By"), "x\uFFFDy");
    EXPECT_EQ(to_cell("a\u202Eb\u2066c\u2028d"), "a b c d");
}

TEST(cell, is_cut_between_characters) {
    EXPECT_EQ(to_cell("abcdef", 6), "abcdef");
    EXPECT_EQ(to_cell("abcdef", 4), "abc…");
    EXPECT_EQ(to_cell("ééé", 2), "é…");
}

TEST(table, is_cut_to_the_width_of_a_terminal_and_not_elsewhere) {
    const auto wide = [](std::size_t characters) {
        std::string text;
        for (std::size_t i = 0; i < characters; ++i) text += "é";
        return text;
    };
    text_table table({"ID", "ERROR"});
    table.add({"a", wide(60)});
    table.add({"b", "short"});
    const auto text = table.to_text();
    const auto cut_to = [&](std::size_t characters) {
        return "ID  ERROR\na   " + wide(characters) + "…\nb   short\n";
    };
    EXPECT_EQ(fit_table(text, 0), text);
    EXPECT_EQ(fit_table(text, 64), text);
    EXPECT_EQ(fit_table(text, 63), cut_to(58));
    EXPECT_EQ(fit_table(text, 10), cut_to(19)) << "20 characters are left";
}

TEST(table, aligns_its_columns_by_what_is_seen) {
    text_table table({"NAME", "AGE"});
    table.add({"é", "3m"});
    table.add({"a long one", "2h"});
    EXPECT_EQ(table.to_text(), "NAME        AGE\né           3m\na long one  2h\n");
}

TEST(to_shown, writes_out_what_could_act_on_a_terminal_and_leaves_lines_as_they_are) {
    EXPECT_EQ(to_shown("a\n\tb é"), "a\n\tb é");
    EXPECT_EQ(to_shown("\033]0;x\007\r\x7F\xC2\x9B\u202E"),
              "\\u001b]0;x\\u0007\\u000d\\u007f\\u009b\\u202e");
    EXPECT_EQ(to_shown("\xFF"), "\uFFFD");
}

TEST(text_table, lets_no_cell_act_on_a_terminal) {
    text_table table({"A", "B"});
    table.add({"x\033[2J", "y\nz"});
    EXPECT_EQ(table.to_text(), "A      B\nx [2J  y z\n");
}

}  // namespace
}  // namespace posthorn::cli
