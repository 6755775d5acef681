// Plain aggregates, which need no description.
#include <gtest/gtest.h>

#include <posthorn/contract.hpp>

namespace posthorn {
namespace {

enum class colour { red, green };
POSTHORN_ENUM(colour, red, green)

struct part {
    std::string sku;
    std::optional<double> unit_price;
    bool operator==(const part&) const = default;
};

struct everything {
    using contract = as_signal<"Everything">;
    uuid id;
    std::string order_id;
    std::vector<part> parts;
    std::map<std::string, int> counts;
    std::optional<int> maybe_number;
    std::optional<std::string> maybe_text;
    std::variant<std::string, part> either;
    std::chrono::milliseconds wait_for;
    wall_time made_at;
    raw_json extra;
    colour of;
    bool is_new;
    std::vector<int> numbers;
    std::optional<part> maybe_part;
    bool operator==(const everything&) const = default;
};

TEST(reflected, aggregates_travel_under_the_names_of_their_fields) {
    EXPECT_EQ(encode(part{"a", 1.5}), R"({"sku":"a","unitPrice":1.5})");
    EXPECT_EQ(encode(part{"a", {}}), R"({"sku":"a"})");
    EXPECT_EQ(decode<part>(R"({"unitPrice":2,"sku":"b"})"), (part{"b", 2}));
}

TEST(reflected, aggregates_come_back_as_they_went) {
    everything made{.id = {},
                    .order_id = "o1",
                    .parts = {{"a", 1}, {"b", {}}},
                    .counts = {{"x", 1}},
                    .maybe_number = 7,
                    .maybe_text = {},
                    .either = part{"c", {}},
                    .wait_for = std::chrono::milliseconds(1500),
                    .made_at = {},
                    .extra = {R"({"any":1})"},
                    .of = colour::green,
                    .is_new = true,
                    .numbers = {1, 2},
                    .maybe_part = part{"d", 2}};
    EXPECT_EQ(decode<everything>(encode(made)), made);
    EXPECT_NE(encode(made).find(R"("either":{"part":{"sku":"c"}})"), std::string::npos);
    EXPECT_NE(json_schema<everything>().find(R"("required":["id","orderId","parts")"),
              std::string::npos);
}

TEST(reflected, types_say_what_message_they_are_by_themselves) {
    static_assert(message_contract<everything> && !message_contract<part>);
    static_assert(contract_of<everything>::type == message_type::signal);
    static_assert(endpoint_of<everything> == "Everything");
}

struct listed {
    std::string order_id;
    int quantity = 0;
};
POSTHORN_SIGNAL(listed, "Listed", (order_id, "order"), quantity)
struct unlisted {
    std::string order_id;
    int quantity = 0;
};
POSTHORN_SIGNAL(unlisted, "Unlisted")
struct nothing {};

TEST(reflected, fields_are_those_of_a_macro_if_it_lists_some) {
    EXPECT_EQ(encode(listed{"o1", 2}), R"({"order":"o1","quantity":2})");
    EXPECT_EQ(encode(unlisted{"o1", 2}), R"({"orderId":"o1","quantity":2})");
    EXPECT_EQ(encode(nothing{}), "{}");
}

TEST(reflected, types_inside_functions_have_names_too) {
    struct inside {
        int deep_down;
    };
    EXPECT_EQ(encode(std::vector<inside>{{7}}), R"([{"deepDown":7}])");
}

struct many {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, last_one;
};

TEST(reflected, aggregates_have_up_to_24_fields) {
    EXPECT_NE(encode(many{}).find(R"("w":0,"lastOne":0})"), std::string::npos);
    struct one_more {
        int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
    };
    static_assert(json_type<many> && !json_type<one_more>);
}

struct base {
    int inherited = 0;
};
struct derived : base {
    int own = 0;
};
class closed_one {
public:
    explicit closed_one(int hidden) : hidden_(hidden) {}
    [[nodiscard]] int hidden() const { return hidden_; }

private:
    int hidden_;
};

TEST(reflected, types_are_plain_or_need_a_macro) {
    static_assert(!json_type<derived> && !json_type<closed_one> && !json_type<std::array<int, 2>>);
}

}  // namespace
}  // namespace posthorn
