#include <gtest/gtest.h>

#include <posthorn/contract.hpp>

#include "message/json_check.hpp"
#include "support/order_contract.hpp"
#include "support/random_order.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(codec, brings_back_every_type_for_a_thousand_random_messages) {
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const auto made = shop::random_order(seed).make();
        const auto text = encode(made);
        ASSERT_TRUE(check_json(text)) << "seed " << seed << ": " << text;
        ASSERT_EQ(decode<shop::everything>(text), made) << "seed " << seed << ": " << text;
    }
}

TEST(codec, writes_names_in_camel_case_unless_told_otherwise) {
    shop::everything made;
    made.paint = shop::colour::dark_green;
    made.renamed = "x";
    const auto text = encode(made);
    EXPECT_NE(text.find("\"smallNatural\":0"), text.npos) << text;
    EXPECT_NE(text.find("\"OtherName\":\"x\""), text.npos) << text;
    EXPECT_NE(text.find("\"paint\":\"dark_green\""), text.npos) << text;
}

TEST(codec, leaves_out_what_is_empty_and_takes_null_for_it) {
    EXPECT_EQ(encode(shop::line{"a", 1, {}}), R"({"sku":"a","quantity":1})");
    EXPECT_EQ(decode<shop::line>(R"({"sku":"a","quantity":1,"price":null})"),
              (shop::line{"a", 1, {}}));
}

struct reminder {
    std::optional<int> days = 7;
    std::optional<std::string> note = "soon";
    bool operator==(const reminder&) const = default;
};
POSTHORN_STRUCT(reminder, days, note)

TEST(codec, brings_back_an_empty_field_whose_default_is_not) {
    const reminder empty{std::nullopt, std::nullopt};
    EXPECT_EQ(encode(empty), "{}");
    EXPECT_EQ(decode<reminder>("{}"), empty);
    EXPECT_EQ(decode<reminder>(R"({"note":"now"})"), (reminder{std::nullopt, "now"}));
    EXPECT_EQ(decode<std::vector<reminder>>("[{},{}]"), (std::vector{empty, empty}));
}

TEST(codec, takes_fields_in_any_order_and_ignores_those_it_does_not_know) {
    EXPECT_EQ(
        decode<shop::line>(
            R"( {"more": {"deep": [1, {"x": "}"}]}, "quantity": 2, "\u0073ku": "b", "z": null} )"),
        (shop::line{"b", 2, {}}));
}

TEST(codec, reads_and_writes_plain_values_as_documents) {
    EXPECT_EQ(decode<std::string>("\"\\u00e9\\n\""), "é\n");
    EXPECT_EQ(decode<std::int64_t>(" -9223372036854775808 "), INT64_MIN);
    EXPECT_EQ(decode<std::vector<bool>>("[true,false]"), (std::vector<bool>{true, false}));
    EXPECT_EQ(encode(std::vector<bool>{true, false}), "[true,false]");
    EXPECT_EQ(encode(std::string("a\"b\\\x1f/")), R"("a\"b\\\u001f/")");
}

TEST(codec, names_the_alternative_of_a_variant) {
    using payment = std::variant<std::monostate, shop::card, std::int64_t, std::string>;
    EXPECT_EQ(encode(payment{shop::card{"4"}}), R"({"card":{"number":"4"}})");
    EXPECT_EQ(encode(payment{}), R"({"none":null})");
    EXPECT_EQ(decode<payment>(R"({"integer":7})"), payment{std::int64_t{7}});
}

struct outer {
    struct inner_part {
        int size;
        bool operator==(const inner_part&) const = default;
    };
    std::variant<inner_part, int> held;
};
POSTHORN_STRUCT(outer::inner_part, size)
POSTHORN_STRUCT(outer, held)

TEST(codec, names_an_alternative_by_the_last_part_of_its_name) {
    EXPECT_EQ(encode(outer{outer::inner_part{3}}), R"({"held":{"innerPart":{"size":3}}})");
    EXPECT_EQ(decode<outer>(R"({"held":{"innerPart":{"size":3}}})").held,
              (std::variant<outer::inner_part, int>(outer::inner_part{3})));
}

TEST(codec, writes_times_and_durations_as_iso_8601) {
    EXPECT_EQ(encode(wall_time(1500ms)), "\"1970-01-01T00:00:01.500Z\"");
    EXPECT_EQ(encode(std::chrono::sys_time<std::chrono::nanoseconds>(1ns)),
              "\"1970-01-01T00:00:00.000000001Z\"");
    EXPECT_EQ(encode(90'500ms), "\"PT90.5S\"");
    EXPECT_EQ(encode(-1ms), "\"-PT0.001S\"");
    EXPECT_EQ(encode(std::chrono::hours(2)), "\"PT7200S\"");
    EXPECT_EQ(decode<std::chrono::milliseconds>("\"P1DT2H3M4.5S\""), 93'784'500ms);
    EXPECT_EQ(decode<wall_time>("\"2026-02-14T13:00:00+01:00\""),
              decode<wall_time>("\"2026-02-14T12:00:00Z\""));
}

TEST(codec, describes_messages_to_the_compiler) {
    static_assert(message_contract<shop::order_placed> && !message_contract<shop::line>);
    static_assert(endpoint_of<shop::order_placed> == "OrderPlaced");
    static_assert(contract_of<shop::order_placed>::type == message_type::signal);
    EXPECT_NE(schema_of<shop::order_placed>().find(R"("title":"OrderPlaced")"), std::string::npos);
}

}  // namespace
}  // namespace posthorn
