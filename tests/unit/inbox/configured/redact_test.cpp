#include "inbox/configured/redact.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::string_view_literals;

std::string redacted(std::string_view text, std::vector<sql_param> given,
                     std::string_view statement = "SELECT ?1") {
    return redact(text, given, statement);
}

TEST(redact, takes_a_whole_value_out_wherever_it_stands) {
    EXPECT_EQ(redacted("order xo-17y of o-17", {"o-17"sv}), "order x…y of …");
    EXPECT_EQ(redacted("card 4111 of 2.75", {std::int64_t{4111}, 2.75}), "card … of …");
}

TEST(redact, takes_words_out_that_are_a_part_of_a_value) {
    EXPECT_EQ(redacted("no such column: canary", {"name: canary x"sv}), "no such column: …");
}

TEST(redact, takes_out_what_is_quoted_and_not_the_statements_own) {
    EXPECT_EQ(redacted("bad JSON path: 'it''s'", {"other"sv}), "bad JSON path: '…'");
    EXPECT_EQ(redacted("near \"a\": syntax error, [b]", {"other"sv}),
              "near \"…\": syntax error, […]");
    EXPECT_EQ(redacted("no such function: 'f_x'", {"other"sv}, "SELECT f_x(?1)"),
              "no such function: 'f_x'");
}

TEST(redact, leaves_names_of_the_statement_and_short_words) {
    EXPECT_EQ(redacted("UNIQUE constraint failed: orders.id", {"orders id is"sv},
                       "INSERT INTO orders VALUES (?1)"),
              "UNIQUE constraint failed: orders.id");
    EXPECT_EQ(redacted("a b", {nullptr, "a"sv}), "a b");
}

}  // namespace
}  // namespace posthorn
