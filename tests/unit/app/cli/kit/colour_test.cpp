#include "app/cli/kit/colour.hpp"

#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

constexpr auto red = "\033[31m";
constexpr auto yellow = "\033[33m";
constexpr auto green = "\033[32m";
constexpr auto plain = "\033[0m";

std::string in(const char* colour, const char* word) { return std::string(colour) + word + plain; }

TEST(colour, paints_the_cells_under_state_and_nothing_else) {
    EXPECT_EQ(paint_states("DESTINATION  STATE    WHY\n"
                           "open         running  Dead\n"
                           "stöck        open     x\n"
                           "b            no_route\n"
                           "c            odd      y\n"
                           "\n"
                           "DESTINATION  WAITING\n"
                           "red          paused\n"),
              "DESTINATION  STATE    WHY\n"
              "open         " +
                  in(green, "running") +
                  "  Dead\n"
                  "stöck        " +
                  in(red, "open") +
                  "     x\n"
                  "b            " +
                  in(red, "no_route") +
                  "\n"
                  "c            odd      y\n"
                  "\n"
                  "DESTINATION  WAITING\n"
                  "red          paused\n");
}

TEST(colour, knows_heads_that_were_cut) {
    EXPECT_EQ(paint_states("A  STATE  …\nb  open   …\n"),
              "A  STATE  …\nb  " + in(red, "open") + "   …\n");
}

TEST(colour, paints_the_light_at_the_end_of_the_first_line) {
    EXPECT_EQ(paint_states("orders yellow\n  all is red\n"),
              "orders " + in(yellow, "yellow") + "\n  all is red\n");
    EXPECT_EQ(paint_states("none\n"), "none\n");
}

TEST(colour, paints_the_value_of_a_status_line) {
    EXPECT_EQ(paint_states("messageId      1\nstatus         Dead\nlastError      red\n"),
              "messageId      1\nstatus         " + in(red, "Dead") + "\nlastError      red\n");
}

}  // namespace
}  // namespace posthorn::cli
