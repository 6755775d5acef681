#include "history/sample.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::UnorderedElementsAre;

history_key to(std::string name) { return {history_kind::destination, std::move(name)}; }

TEST(history_sample, is_what_counters_have_risen_by) {
    const history_lines before{{to("billing"), {.done = 10, .failed = 1}}};
    const history_lines now{{to("billing"), {.done = 15, .failed = 1, .dead = 2}},
                            {to("crm"), {.done = 3}}};
    const auto risen = difference(now, before);
    EXPECT_EQ(risen.at(to("billing")), (history_numbers{.done = 5, .dead = 2}));
    EXPECT_EQ(risen.at(to("crm")), (history_numbers{.done = 3}));
}

TEST(history_sample, takes_a_counter_that_fell_as_one_that_began_anew) {
    const auto risen =
        difference({{to("billing"), {.done = 4}}}, {{to("billing"), {.done = 1000}}});
    EXPECT_EQ(risen.at(to("billing")).done, 4U);
}

TEST(history_sample, of_a_longer_time_adds_counts_and_keeps_what_waits_at_the_end) {
    history_lines minute{{to("billing"), {.done = 1, .waiting = 90, .oldest_ms = 5}},
                         {to("crm"), {.done = 2, .waiting = 7, .oldest_ms = 9}}};
    append(minute, {{to("billing"), {.done = 4, .waiting = 30, .oldest_ms = 6}}});
    EXPECT_EQ(minute.at(to("billing")),
              (history_numbers{.done = 5, .waiting = 30, .oldest_ms = 6}));
    EXPECT_EQ(minute.at(to("crm")), (history_numbers{.done = 2}));
}

TEST(history_sample, of_several_nodes_adds_what_they_did_but_not_what_they_share) {
    history_numbers both{.done = 4, .waiting = 100, .oldest_ms = 50};
    merge(both, {.done = 6, .waiting = 90, .oldest_ms = 60});
    EXPECT_EQ(both, (history_numbers{.done = 10, .waiting = 100, .oldest_ms = 60}));
}

TEST(history_sample, names_the_busiest_and_sums_up_the_rest) {
    history_lines lines{{{history_kind::outbox, {}}, {}},
                        {to("a"), {.done = 1, .waiting = 2, .oldest_ms = 10}},
                        {to("b"), {.done = 50}},
                        {to("c"), {.waiting = 40}},
                        {to("d"), {.done = 2, .waiting = 1, .oldest_ms = 30}},
                        {to("idle"), {}},
                        {{history_kind::endpoint, "Charge"}, {.done = 1}}};
    const auto kept = bounded(lines, 2);
    EXPECT_THAT(kept, UnorderedElementsAre(Key(history_key{history_kind::outbox, {}}), Key(to("b")),
                                           Key(to("c")), Key(to("other")),
                                           Key(history_key{history_kind::endpoint, "Charge"})));
    EXPECT_EQ(kept.at(to("other")), (history_numbers{.done = 3, .waiting = 3, .oldest_ms = 30}));
}

TEST(history_sample, keeps_adding_to_the_rest_that_was_summed_up_before) {
    history_lines lines{{to("a"), {.done = 9}}, {to("b"), {.done = 1}}, {to("other"), {.done = 5}}};
    EXPECT_EQ(bounded(lines, 1).at(to("other")).done, 6U);
}

TEST(history_sample, writes_latencies_as_a_short_text_and_reads_them_again) {
    duration_counts took{};
    EXPECT_EQ(encode(took), "");
    EXPECT_EQ(decode(""), took);
    took[3] = 12;
    took[15] = 1;
    EXPECT_EQ(encode(took), "3:12,15:1");
    EXPECT_EQ(decode("3:12,15:1"), took);
}

TEST(history_sample, counts_nothing_of_a_text_that_is_not_one_of_latencies) {
    for (const auto* const odd : {"x", "3", "3:", "3:x", "16:1", "3:1;4:1", "3:1,,", ":", "-1:3"})
        EXPECT_EQ(decode(odd), duration_counts{}) << odd;
}

TEST(history_sample, finds_percentiles_inside_the_part_they_lie_in) {
    std::array<double, duration_bounds_us.size() + 1> took{};
    EXPECT_EQ(percentile_us(took, 50), 0);
    took[1] = 100;  // 100 to 250 us.
    EXPECT_DOUBLE_EQ(percentile_us(took, 50), 175);
    EXPECT_DOUBLE_EQ(percentile_us(took, 99), 248.5);
    took[9] = 2;  // 50 to 100 ms.
    EXPECT_DOUBLE_EQ(percentile_us(took, 99), 50'000 + 50'000 * (102 * 0.99 - 100) / 2);
    took = {};
    took[15] = 1;  // Above all bounds.
    EXPECT_DOUBLE_EQ(percentile_us(took, 99), 30'000'000);
}

}  // namespace
}  // namespace posthorn
