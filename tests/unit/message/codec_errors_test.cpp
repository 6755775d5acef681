#include <string>

#include <gtest/gtest.h>

#include <posthorn/contract.hpp>
#include <posthorn/error.hpp>

#include "support/order_contract.hpp"
#include "support/random_order.hpp"

namespace posthorn {
namespace {

struct basket {
    std::vector<shop::line> items;
    std::map<std::string, shop::colour> paints;
};
POSTHORN_STRUCT(basket, items, paints)

template <class T>
std::string complaint(std::string_view text) {
    try {
        static_cast<void>(decode<T>(text));
    } catch (const error& why) {
        EXPECT_EQ(why.code(), error_code::invalid_payload);
        return why.what();
    }
    return "taken";
}

template <class T>
std::string complaint_of(const T& value) {
    try {
        static_cast<void>(encode(value));
    } catch (const error& why) {
        EXPECT_EQ(why.code(), error_code::invalid_payload);
        return why.what();
    }
    return "written";
}

TEST(codec_errors, name_the_path_of_what_is_missing_or_wrong) {
    EXPECT_EQ(complaint<basket>(R"({"items":[{"sku":"a","quantity":1},{"quantity":1}]})"),
              "items[1].sku is missing");
    EXPECT_EQ(complaint<basket>(R"({"items":[{"sku":"a","quantity":"1"}]})"),
              "items[0].quantity is text, not an integer");
    EXPECT_EQ(complaint<basket>(R"({"items":{}})"), "items is an object, not an array");
    EXPECT_EQ(complaint<basket>(R"({"items":[]})"), "paints is missing");
    EXPECT_EQ(complaint<basket>(R"({"items":[],"paints":{"door":"pink"}})"),
              "paints.door is none of: red, dark_green, Blue");
    EXPECT_EQ(complaint<basket>("[]"), "the payload is an array, not an object");
    EXPECT_EQ(complaint<basket>("null"), "the payload is null, not an object");
    EXPECT_EQ(complaint<bool>("1"), "the payload is a number, not true or false");
}

TEST(codec_errors, refuse_integers_that_do_not_fit) {
    for (const auto* text : {"128", "-129", "1.5", "1e2", "99999999999999999999"})
        EXPECT_EQ(complaint<std::int8_t>(text), "the payload is not an integer from -128 to 127");
    for (const auto* text : {"65536", "-1", "0.5"})
        EXPECT_EQ(complaint<std::uint16_t>(text), "the payload is not an integer from 0 to 65535");
    EXPECT_EQ(complaint<std::uint64_t>("-1"),
              "the payload is not an integer from 0 to 18446744073709551615");
    for (const auto* text : {"9223372036854775808", "1e3", "1.0", "01", "-", "+1", "0x10",
                             "123456789012345678901234567890"})
        EXPECT_NE(complaint<std::int64_t>(text), "taken") << text;
    for (const auto* text : {"-1", "18446744073709551616"})
        EXPECT_NE(complaint<std::uint64_t>(text), "taken") << text;
    for (const auto* text : {"1e400", "NaN", "Infinity", "-Infinity", "1.", ".5", "nan"})
        EXPECT_NE(complaint<double>(text), "taken") << text;
    EXPECT_NE(complaint<float>("1e39"), "taken");
}

TEST(codec_errors, tell_numbers_that_are_none_from_those_that_are_too_large) {
    EXPECT_EQ(complaint<std::vector<double>>("[1.]"), "[0] is not a JSON number");
    EXPECT_EQ(complaint<std::vector<double>>("[1, 01]"), "[1] is not a JSON number");
    EXPECT_EQ(complaint<std::vector<double>>("[NaN]"), "[0] is not JSON");
    EXPECT_EQ(complaint<std::vector<double>>("[-Infinity]"), "[0] is not a JSON number");
    EXPECT_EQ(complaint<double>("1e400"), "the payload is too large a number for 64 bits");
    EXPECT_EQ(complaint<double>("-1.5E+400"), "the payload is too large a number for 64 bits");
}

TEST(codec, takes_minus_zero_for_zero) {
    EXPECT_EQ(decode<std::uint64_t>("-0"), 0U);
    EXPECT_EQ(decode<std::uint8_t>(" -0 "), 0U);
    EXPECT_EQ(decode<int>("-0"), 0);
}

TEST(codec_errors, refuse_keys_that_come_twice) {
    EXPECT_EQ(complaint<shop::line>(R"({"sku":"a","quantity":1,"sk\u0075":"b"})"),
              "sku is there twice");
    EXPECT_EQ((complaint<std::map<std::string, int>>(R"({"a":1,"b":2,"a":3})")),
              "a is there twice");
}

TEST(codec_errors, refuse_text_that_is_not_utf8_or_not_well_escaped) {
    for (const auto* text : {"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\\ud800\"",
                             "\"\\x41\"", "\"a\nb\"", "\"open", "\"\\"})
        EXPECT_NE(complaint<std::string>(text), "taken") << text;
    EXPECT_EQ(complaint<shop::line>("{\"sku\":\"a\",\"quantity\":1,\"zz\":\"\xff\"}"),
              "the payload is not UTF-8 from byte 30 on");
}

TEST(codec_errors, refuse_documents_that_are_not_one_whole_value) {
    for (const auto* text : {"",
                             " ",
                             "{",
                             "}",
                             "]",
                             "[",
                             "1 2",
                             "1,2",
                             "1],[2",
                             "1] [2",
                             "{}{}",
                             "{} x",
                             ",",
                             "{,}",
                             R"({"sku":"a","quantity":1)",
                             R"({"sku":"a","quantity":1}})",
                             R"({"sku":"a","quantity":1,})",
                             R"({"sku":"a" "quantity":1})",
                             R"({"sku":"a","quantity":1 2})",
                             R"({sku:"a","quantity":1})"}) {
        EXPECT_NE(complaint<shop::line>(text), "taken") << text;
        EXPECT_NE(complaint<std::vector<int>>(text), "taken") << text;
    }
    EXPECT_NE(complaint<std::vector<int>>("[1,]"), "taken");
    EXPECT_NE(complaint<std::vector<int>>("[1 2]"), "taken");
    EXPECT_NE(complaint<std::vector<int>>(std::string_view("[1]\0", 4)), "taken");
}

TEST(codec_errors, refuse_what_is_wrong_in_fields_that_nobody_asked_for) {
    for (const auto* value : {"tru", "01", "[1 2]", "[1}", "{\"a\"}", "{\"a\":}", "nul", "\"\\q\"",
                              "[,]", "1e", "--1", "[1,]"}) {
        const auto text = std::string(R"({"sku":"a","more":)") + value + R"(,"quantity":1})";
        EXPECT_NE(complaint<shop::line>(text), "taken") << text;
    }
}

TEST(codec_errors, let_through_what_only_a_reader_of_the_field_could_mind) {
    for (const auto* value : {R"({"a":1,"a":2})", "1e400", "123456789012345678901234567890"}) {
        const auto text = std::string(R"({"sku":"a","more":)") + value + R"(,"quantity":1})";
        EXPECT_EQ(complaint<shop::line>(text), "taken") << text;
        EXPECT_EQ(complaint<raw_json>(value), "taken") << value;
    }
}

TEST(codec_errors, refuse_what_is_nested_too_deep) {
    const std::string deep(100'000, '[');
    EXPECT_NE(complaint<shop::line>(R"({"sku":"a","quantity":1,"more":)" + deep), "taken");
    const auto closed = deep + std::string(deep.size(), ']');
    EXPECT_NE(complaint<shop::line>(R"({"sku":"a","quantity":1,"more":)" + closed + "}"), "taken");
    EXPECT_NE(complaint<raw_json>(closed), "taken");
}

struct holder {
    std::vector<raw_json> held;
};
POSTHORN_STRUCT(holder, held)

TEST(codec_errors, count_the_depth_of_raw_and_unknown_values_from_the_top) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    EXPECT_EQ(complaint<raw_json>(nested(64)), "taken");
    EXPECT_NE(complaint<raw_json>(nested(65)), "taken");
    const auto unknown = [&](std::size_t levels) {
        return R"({"sku":"a","quantity":1,"more":)" + nested(levels) + "}";
    };
    EXPECT_EQ(complaint<shop::line>(unknown(63)), "taken");
    EXPECT_NE(complaint<shop::line>(unknown(64)), "taken");
    const auto held = [&](std::size_t levels) { return R"({"held":[)" + nested(levels) + "]}"; };
    EXPECT_EQ(complaint<holder>(held(62)), "taken");
    EXPECT_NE(complaint<holder>(held(63)), "taken");
    EXPECT_EQ(complaint_of(holder{{{nested(62)}}}), "written");
    EXPECT_NE(complaint_of(holder{{{nested(63)}}}), "written");
}

TEST(codec_errors, refuse_variants_of_none_or_several_alternatives) {
    using payment = std::variant<shop::card, std::int64_t>;
    EXPECT_EQ(complaint<payment>("{}"), "the payload names no alternative");
    EXPECT_EQ(complaint<payment>(R"({"cash":1})"), "cash is none of: card, integer");
    EXPECT_EQ(complaint<payment>(R"({"integer":1,"card":{"number":"1"}})"),
              "the payload has more than one alternative");
}

TEST(codec_errors, refuse_times_durations_and_ids_that_are_none) {
    for (const auto* text : {"\"\"", "\"2026-02-30T00:00:00Z\"", "\"2026-02-14\"", "1"})
        EXPECT_NE(complaint<wall_time>(text), "taken") << text;
    EXPECT_NE(complaint<wall_time>("\"2026-02-14T12:00:00.1234Z\""), "taken");
    for (const auto* text : {"\"\"",
                             "\"P\"",
                             "\"PT\"",
                             "\"P1Y\"",
                             "\"P1W\"",
                             "\"P1M\"",
                             "\"PT1\"",
                             "\"PT1.S\"",
                             "\"PT1S1H\"",
                             "\"PT1S1S\"",
                             "\"P1DT\"",
                             "\"PT-1S\"",
                             "\"--PT1S\"",
                             "\"PT1.0000000001S\"",
                             "\"PT99999999999999999999S\"",
                             "\"PT9223372036854775807S\"",
                             "\"PT0.0001S\"",
                             "\"1H\"",
                             "\"PT1.5M\"",
                             "\"P1H\""})
        EXPECT_NE(complaint<std::chrono::milliseconds>(text), "taken") << text;
    EXPECT_NE(complaint<std::chrono::hours>("\"PT1S\""), "taken");
    EXPECT_NE(complaint<uuid>("\"018f3b1c\""), "taken");
}

TEST(codec_errors, refuse_to_write_what_json_cannot_say) {
    shop::everything made;
    made.real = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(complaint_of(made), "real is not a finite number, which JSON cannot say");
    made.real = 0;
    made.items = {{"good", 1, {}}, {"\xff", 1, {}}};
    EXPECT_EQ(complaint_of(made), "items[1].sku is text that is not UTF-8");
    made.items.clear();
    made.paint = static_cast<shop::colour>(9);
    EXPECT_EQ(complaint_of(made), "paint is an enumerator without a name; add it to POSTHORN_ENUM");
    made.paint = shop::colour::red;
    made.extra.text = "{oops}";
    EXPECT_NE(complaint_of(made), "written");
    EXPECT_EQ(complaint_of(std::map<std::string, int>{{"a\xff\n\"", 1}}),
              "a\uFFFD?\" is text that is not UTF-8");
    EXPECT_NE(complaint_of(std::chrono::hours::max()), "written");
    EXPECT_NE(complaint_of(wall_time::max()), "written");
}

TEST(codec_errors, show_no_line_ends_and_little_of_a_strangers_key) {
    const auto text = complaint<std::map<std::string, int>>(R"({"a\nb)" + std::string(10'000, 'x') +
                                                            R"(":true})");
    EXPECT_EQ(text.find('\n'), text.npos);
    EXPECT_LT(text.size(), 200U);
}

TEST(codec_errors, never_lets_a_mutated_message_do_worse_than_be_refused) {
    shop::random_order dice(42);
    std::size_t refused = 0;
    for (int round = 0; round < 5'000; ++round) {
        auto text = encode(dice.make());
        for (auto left = dice.below(4) + 1; left > 0; --left)
            text[dice.below(text.size())] = static_cast<char>(dice.below(256));
        if (dice.below(4) == 0) text.resize(dice.below(text.size()));
        try {
            // What is taken must be something that can be written again.
            static_cast<void>(encode(decode<shop::everything>(text)));
        } catch (const error& why) {
            ASSERT_EQ(why.code(), error_code::invalid_payload);
            ++refused;
        }
    }
    EXPECT_GT(refused, 1'000U);
}

}  // namespace
}  // namespace posthorn
