#include "forward/limits/buffer_rules.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

forward_total held(std::string category, std::int64_t waiting, std::int64_t parked,
                   std::int64_t bytes) {
    return {.category = std::move(category), .waiting = waiting, .parked = parked, .bytes = bytes};
}

/// So many of each category have to go, and so many bytes.
std::vector<std::string> said(const std::vector<drop_wish>& wishes) {
    std::vector<std::string> all;
    for (const auto& each : wishes)
        all.push_back(fmt::format("{}: {}, {} bytes", each.category, each.messages, each.bytes));
    return all;
}

std::vector<held_work> rows(std::vector<std::int64_t> bytes) {
    std::vector<held_work> all;
    for (const auto each : bytes) all.emplace_back().bytes = each;
    return all;
}

feature_settings settings(std::string then, std::string order, std::int64_t messages = 0) {
    return feature_settings({{"max_messages", messages},
                             {"max_bytes", std::int64_t{0}},
                             {"max_age", std::chrono::milliseconds{0}},
                             {"when_full", std::move(then)},
                             {"drop_order", std::move(order)}});
}

TEST(buffer_rules, have_no_cap_unless_one_is_given) {
    EXPECT_FALSE(buffer_rules{}.any());
    EXPECT_FALSE(read_buffer_rules(settings("reject", ""))->any());
    EXPECT_TRUE(read_buffer_rules(settings("reject", "", 7))->any());
    const buffer_rules one{.categories = {{"A", {.age = 1s}}}};
    EXPECT_TRUE(one.any());
}

TEST(buffer_rules, that_make_no_sense_are_refused_with_what_to_write) {
    const auto why = [](std::string then, std::string order, std::int64_t messages = 0) {
        const auto read = read_buffer_rules(settings(std::move(then), std::move(order), messages));
        return read ? std::string() : std::string(read.error().what());
    };
    EXPECT_THAT(why("explode", ""), HasSubstr("write \"reject\""));
    EXPECT_THAT(why("drop_category", ""), HasSubstr("forward.drop_order"));
    EXPECT_THAT(why("drop_category", "A, b c"), HasSubstr("'b c'"));
    EXPECT_THAT(why("reject", "", -1), HasSubstr("not negative"));
    EXPECT_THAT(read_buffer_rules(settings("drop_category", "A, B"))->lowest_first,
                ElementsAre("A", "B"));
}

TEST(buffer_rules, refuse_new_work_rather_than_drop_any_unless_they_say_so) {
    const buffer_rules rules{.whole = {.messages = 1}};
    EXPECT_THAT(wishes_of(rules, {held("A", 5, 5, 100)}), IsEmpty());
    EXPECT_THAT(full_ones(rules, {held("A", 5, 5, 100)}), ElementsAre(""));
}

TEST(buffer_rules, count_what_waits_and_what_is_parked) {
    buffer_rules rules{.whole = {.messages = 10}, .then = when_full::drop_oldest};
    EXPECT_THAT(wishes_of(rules, {held("A", 5, 5, 100)}), IsEmpty());
    EXPECT_THAT(said(wishes_of(rules, {held("A", 5, 5, 100), held("B", 2, 1, 0)})),
                ElementsAre(": 3, 0 bytes"));
    rules.whole = {.bytes = 60};
    EXPECT_THAT(said(wishes_of(rules, {held("A", 5, 5, 100)})), ElementsAre(": 0, 40 bytes"));
}

TEST(buffer_rules, bring_categories_within_their_own_caps_before_all_together) {
    const buffer_rules rules{.whole = {.messages = 10},
                             .categories = {{"A", {.messages = 4}}},
                             .then = when_full::drop_oldest};
    EXPECT_THAT(said(wishes_of(rules, {held("A", 9, 0, 0), held("B", 5, 0, 0)})),
                ElementsAre("A: 5, 0 bytes"));
    EXPECT_THAT(said(wishes_of(rules, {held("A", 9, 0, 0), held("B", 8, 0, 0)})),
                ElementsAre("A: 5, 0 bytes", ": 2, 0 bytes"));
    EXPECT_THAT(full_ones(rules, {held("A", 4, 0, 0), held("B", 5, 0, 0)}), ElementsAre("A"));
}

TEST(buffer_rules, drop_what_is_worth_least_first_and_what_is_not_named_last) {
    const buffer_rules rules{.whole = {.messages = 10, .bytes = 1000},
                             .then = when_full::drop_category,
                             .lowest_first = {"C", "B"}};
    const std::vector all{held("A", 6, 0, 600), held("B", 6, 0, 600), held("C", 2, 1, 300)};
    EXPECT_THAT(said(wishes_of(rules, all)), ElementsAre("C: 3, 300 bytes", "B: 2, 200 bytes"));
    EXPECT_THAT(said(wishes_of(rules, {held("A", 20, 0, 0), held("B", 1, 0, 0)})),
                ElementsAre("B: 1, 0 bytes", "A: 10, 0 bytes"));
}

TEST(buffer_rules, let_no_more_go_than_they_must) {
    EXPECT_EQ(to_drop({.messages = 2}, rows({1, 1, 1})), 2U);
    EXPECT_EQ(to_drop({.bytes = 15}, rows({10, 10, 10})), 2U);
    EXPECT_EQ(to_drop({.messages = 3, .bytes = 1}, rows({10, 10, 10, 10})), 3U);
    EXPECT_EQ(to_drop({.messages = 9}, rows({1, 1})), 2U);
    EXPECT_EQ(to_drop({}, rows({1, 1})), 0U);
}

}  // namespace
}  // namespace posthorn
