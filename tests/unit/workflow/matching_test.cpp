#include "workflow/matching.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <posthorn/workflow.hpp>

namespace posthorn {
namespace {

enum class colour { red, green };
POSTHORN_ENUM(colour, red, (green, "verde"))

struct seen {
    using contract = as_signal<"Seen">;
    std::string order_id;
    std::int64_t level = 0;
    std::uint32_t count = 0;
    double weight = 0;
    bool is_last = false;
    uuid id{};
    wall_time at{};
    std::chrono::seconds took{};
    colour paint{};
    std::optional<std::string> note{};
};

struct renamed {
    std::string order_id;
};
POSTHORN_SIGNAL(renamed, "Renamed", (order_id, "order"))

std::string stored(const auto& of) {
    std::string text;
    detail::encode_terms(text, of.terms());
    return text;
}

/// As an engine does it: the wait is stored, the signal looked up by its key, then filtered.
bool fits(const match<seen>& wait, std::string_view payload) {
    const auto wanted = key_of(*parse_terms(stored(wait)));
    return key_in(wanted.shape, payload) == wanted.key && passes(wanted.filter, payload);
}

TEST(matching, an_expression_is_data_with_the_names_that_travel) {
    EXPECT_EQ(stored(the<&seen::order_id> == "o1" && the<&seen::level> >= 2),
              R"([["orderId","==","text","o1"],["level",">=","integer",2]])");
    EXPECT_EQ(stored(the<&renamed::order_id> == "o1"), R"([["order","==","text","o1"]])");
    EXPECT_EQ(stored(the<&seen::paint> != colour::green), R"([["paint","!=","text","verde"]])");
    EXPECT_EQ(stored(match<seen>()), "[]");
}

TEST(matching, what_was_stored_is_read_back) {
    const auto wait = the<&seen::order_id> == "o\"1" && the<&seen::at> < wall_time{} &&
                      the<&seen::took> > std::chrono::seconds(90);
    EXPECT_EQ(*parse_terms(stored(wait)), wait.terms());
}

TEST(matching, equalities_become_the_key_whatever_their_order) {
    const auto one = key_of(
        (the<&seen::order_id> == "o1" && the<&seen::level> == 2 && the<&seen::count> > 1U).terms());
    const auto other = key_of((the<&seen::level> == 2 && the<&seen::order_id> == "o1").terms());
    EXPECT_EQ(one.shape, "level:integer,orderId:text");
    EXPECT_EQ(one.key, R"(1:24:"o1")");
    EXPECT_EQ(one.filter.size(), 1U);
    EXPECT_EQ(other.shape, one.shape);
    EXPECT_EQ(other.key, one.key);
    EXPECT_EQ(key_of({}).shape, "");
    EXPECT_EQ(key_of({}).key, key_in("", R"({"any":1})"));
}

TEST(matching, two_lists_of_values_never_make_one_key) {
    const auto left = R"({"a":"x1:","b":"y"})";
    const auto right = R"({"a":"x","b":"1:y"})";
    EXPECT_NE(key_in("a:text,b:text", left), key_in("a:text,b:text", right));
}

TEST(matching, a_long_key_is_hashed) {
    const auto key = *key_in("a:text", R"({"a":")" + std::string(300, 'x') + R"("})");
    EXPECT_EQ(key.size(), 7U + 64U);
    EXPECT_NE(key, *key_in("a:text", R"({"a":")" + std::string(301, 'x') + R"("})"));
}

TEST(matching, compares_values_and_not_their_texts) {
    EXPECT_TRUE(fits(the<&seen::order_id> == "AB", R"({"orderId":"\u0041B"})"));
    EXPECT_TRUE(fits(the<&seen::weight> == 1000.0, R"({"weight":1e3})"));
    EXPECT_TRUE(fits(the<&seen::at> == wall_time(std::chrono::milliseconds(1'000)),
                     R"({"at":"1970-01-01T01:00:01+01:00"})"));
    EXPECT_TRUE(fits(the<&seen::took> == std::chrono::seconds(90), R"({"took":"PT1M30S"})"));
    EXPECT_TRUE(fits(the<&seen::id> == *uuid::parse("019b0000-0000-7000-8000-0000000000ab"),
                     R"({"id":"019B0000-0000-7000-8000-0000000000AB"})"));
    EXPECT_TRUE(fits(the<&seen::took> > std::chrono::seconds(9), R"({"took":"PT10S"})"));
    EXPECT_TRUE(fits(the<&seen::level> > 9, R"({"level":10})"));
    EXPECT_TRUE(fits(the<&seen::level> < -9, R"({"level":-10})"));
    EXPECT_TRUE(fits(the<&seen::note> == "x", R"({"note":"x"})"));
    EXPECT_TRUE(fits(the<&seen::is_last> == true, R"({"isLast":true})"));
}

TEST(matching, every_comparison_holds_where_it_says) {
    const auto level = [](int at) { return R"({"level":)" + std::to_string(at) + "}"; };
    for (int at = 1; at <= 3; ++at) {
        EXPECT_EQ(fits(the<&seen::level> == 2, level(at)), at == 2) << at;
        EXPECT_EQ(fits(the<&seen::level> != 2, level(at)), at != 2) << at;
        EXPECT_EQ(fits(the<&seen::level> < 2, level(at)), at < 2) << at;
        EXPECT_EQ(fits(the<&seen::level> <= 2, level(at)), at <= 2) << at;
        EXPECT_EQ(fits(the<&seen::level> > 2, level(at)), at > 2) << at;
        EXPECT_EQ(fits(the<&seen::level> >= 2, level(at)), at >= 2) << at;
    }
    EXPECT_FALSE(fits(the<&seen::level> > 1 && the<&seen::level> < 3, level(3)));
    EXPECT_FALSE(fits(the<&seen::level> == 1 && the<&seen::level> == 2, level(1)));
}

TEST(matching, a_field_that_is_missing_null_or_of_another_type_fits_nothing) {
    for (const auto* const payload : {"{}", R"({"level":null})", R"({"level":"2"})",
                                      R"({"level":2.5})", "[]", "2", "not JSON", ""}) {
        EXPECT_FALSE(fits(the<&seen::level> == 2, payload)) << payload;
        EXPECT_FALSE(fits(the<&seen::level> != 2, payload)) << payload;
        EXPECT_FALSE(fits(the<&seen::level> < 9, payload)) << payload;
    }
}

TEST(matching, what_is_no_list_of_comparisons_is_an_error) {
    for (const auto* const damaged :
         {"", "{}", "[[]]", R"([["a","==","text"]])", R"([["a","~","text","x"]])",
          R"([["a","==","colour","x"]])", R"([["a","==","integer","x"]])",
          R"([["a","==","text","x",1]])", R"([["a","==","text","x"])"})
        EXPECT_FALSE(parse_terms(damaged)) << damaged;
    EXPECT_FALSE(key_in("level", R"({"level":2})"));
    EXPECT_FALSE(key_in("level:colour", R"({"level":2})"));
}

TEST(matching, is_told_in_words) {
    EXPECT_EQ(in_words("Seen", (the<&seen::order_id> == "o1" && the<&seen::level> >= 2).terms()),
              R"(Seen where orderId == "o1" and level >= 2)");
    EXPECT_EQ(in_words("Seen", {}), "Seen");
}

TEST(matching, a_number_that_the_field_cannot_hold_is_refused) {
    EXPECT_THROW(static_cast<void>(the<&seen::count> == -1), error);
}

}  // namespace
}  // namespace posthorn
