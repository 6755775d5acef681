#include "standby/archive/restore_plan.hpp"

#include <gtest/gtest.h>

#include "standby/archive/archive_upkeep.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

wall_time at(std::int64_t ms) { return wall_time(milliseconds(ms)); }

/// A segment a hundred, with commits from its number's hundred on to fifty later.
stretch::kept_segment piece_of_log(std::uint64_t number) {
    const auto from = static_cast<std::int64_t>(number) * 100;
    return {.facts = {.number = number, .first_at = at(from), .last_at = at(from + 50)},
            .file_bytes = 10};
}

stretch::kept_base base_of(std::uint64_t needs, std::uint64_t whole) {
    return {.facts = {.needs = needs,
                      .whole = whole,
                      .whole_at = at((static_cast<std::int64_t>(whole) * 100) + 50)},
            .file_bytes = 1'000};
}

/// Segments from one to another, and bases.
stretch a_stretch(const std::string& name, std::uint64_t from, std::uint64_t to,
                  std::vector<stretch::kept_base> bases) {
    stretch made{.folder = name, .bases = std::move(bases)};
    for (auto number = from; number <= to; ++number) made.segments.push_back(piece_of_log(number));
    return made;
}

std::string files_of(const result<restore_plan>& plan) {
    if (!plan) return std::string(plan.error().name());
    return fmt::format("{}: base {}, log {} to {}", plan->stretch, plan->base.whole,
                       plan->segments.empty() ? 0 : plan->segments.front().number,
                       plan->segments.empty() ? 0 : plan->segments.back().number);
}

TEST(a_restore_plan, takes_the_newest_base_that_is_whole_by_then_and_the_log_behind_it) {
    const std::vector all{a_stretch("a", 1, 9, {base_of(1, 2), base_of(5, 6)})};
    struct {
        std::int64_t moment;
        const char* plan;
    } const cases[] = {
        {249, "not_found"},              // Before the first base is whole.
        {250, "0: base 2, log 1 to 2"},  // To the end of the segment that it needs.
        {299, "0: base 2, log 1 to 2"},  // Between two segments.
        {300, "0: base 2, log 1 to 3"},
        {649, "0: base 2, log 1 to 6"},  // The second is whole a moment later.
        {650, "0: base 6, log 5 to 6"},
        {700, "0: base 6, log 5 to 7"},
        {99'999, "0: base 6, log 5 to 9"},
    };
    for (const auto& each : cases)
        EXPECT_EQ(files_of(plan_restore(all, at(each.moment))), each.plan) << each.moment;
    EXPECT_EQ(files_of(plan_restore(all, std::nullopt)), "0: base 6, log 5 to 9");
}

TEST(a_restore_plan, says_which_moments_are_nearest_to_one_in_a_gap) {
    const std::vector all{a_stretch("a", 1, 3, {base_of(1, 1)}), a_stretch("b", 10, 12, {}),
                          a_stretch("c", 20, 29, {base_of(20, 21)})};
    EXPECT_EQ(files_of(plan_restore(all, at(350))), "0: base 1, log 1 to 3");
    for (const auto moment : {351, 1'100, 2'149}) {
        const auto plan = plan_restore(all, at(moment));
        ASSERT_FALSE(plan) << moment;
        const std::string why = plan.error().what();
        EXPECT_TRUE(why.contains(to_iso8601(at(350)))) << why;
        EXPECT_TRUE(why.contains(to_iso8601(at(2'150)))) << why;
    }
    EXPECT_EQ(files_of(plan_restore(all, at(2'150))), "2: base 21, log 20 to 21");
    EXPECT_EQ(gaps_between(all), (std::vector{archive_gap{at(350), at(2'150)}}));
}

TEST(a_restore_plan, has_nothing_where_no_base_is_whole) {
    EXPECT_EQ(files_of(plan_restore({}, std::nullopt)), "not_found");
    const std::vector all{a_stretch("a", 1, 3, {})};
    EXPECT_EQ(files_of(plan_restore(all, std::nullopt)), "not_found");
    EXPECT_TRUE(gaps_between(all).empty());
}

TEST(a_restore_plan, names_what_is_missing_or_damaged_and_what_is_left) {
    std::vector all{a_stretch("a", 1, 9, {base_of(1, 2)})};
    std::erase_if(all[0].segments, [](const auto& each) { return each.facts.number == 5; });
    EXPECT_EQ(missing_segments(all[0]), std::vector<std::uint64_t>{5});
    auto plan = plan_restore(all, std::nullopt);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code(), error_code::store_corrupt);
    EXPECT_STREQ(plan.error().what(),
                 "a/log-000000000005 is missing; what can be restored of this stretch ends at "
                 "1970-01-01T00:00:00.450Z");
    all[0].damaged = {"log-000000000005"};
    plan = plan_restore(all, std::nullopt);
    EXPECT_TRUE(std::string(plan.error().what()).contains("is damaged"));
    EXPECT_EQ(files_of(plan_restore(all, at(450))), "0: base 2, log 1 to 4");
    EXPECT_EQ(files_of(plan_restore(all, at(451))), "store_corrupt");  // It may be in there.
    all[0].segments.resize(4);
    EXPECT_EQ(files_of(plan_restore(all, std::nullopt)), "store_corrupt");
    all[0].damaged.clear();
    EXPECT_EQ(files_of(plan_restore(all, std::nullopt)), "0: base 2, log 1 to 4");
}

TEST(a_restore_plan, goes_by_the_log_where_the_clock_was_set_back) {
    stretch one{.folder = "a", .bases = {base_of(1, 1)}};
    one.segments = {piece_of_log(1), piece_of_log(2), piece_of_log(3)};
    one.segments[2].facts.first_at = at(160);
    one.segments[2].facts.last_at = at(400);
    const std::vector all{one};
    EXPECT_EQ(files_of(plan_restore(all, at(200))), "0: base 1, log 1 to 3");
    const std::vector<commit_mark> marks{{1, at(100)}, {2, at(300)}, {3, at(200)}};
    EXPECT_EQ(last_until(marks, at(250)), marks[2]);
    EXPECT_EQ(last_until(marks, at(150)), marks[0]);
    EXPECT_EQ(last_until(marks, at(50)), std::nullopt);
    EXPECT_EQ(last_until(marks, std::nullopt), marks[2]);
}

std::vector<std::string> removed(std::span<const stretch> all, std::int64_t now,
                                 const archive_limits& limits) {
    std::vector<std::string> names;
    for (const auto& each : outdated_files(all, at(now), limits)) names.push_back(each.string());
    return names;
}

TEST(an_archives_upkeep, lets_go_what_no_moment_within_the_time_needs) {
    const std::vector all{a_stretch("a", 1, 6, {base_of(1, 2), base_of(4, 5)})};
    const archive_limits limits{.keep = milliseconds{1'000}};
    EXPECT_TRUE(removed(all, 1'549, limits).empty());  // 549 is before the second base is whole.
    EXPECT_EQ(removed(all, 1'550, limits),
              (std::vector<std::string>{"a/base-000000000002", "a/log-000000000001",
                                        "a/log-000000000002", "a/log-000000000003"}));
    // The newest base stays, however old it is.
    EXPECT_EQ(removed(all, 999'999, limits).size(), 4U);
}

TEST(an_archives_upkeep, removes_stretches_that_ended_long_ago_folder_and_all) {
    std::vector all{a_stretch("a", 1, 2, {base_of(1, 1)}),
                    a_stretch("b", 10, 12, {base_of(10, 10)})};
    all[0].damaged = {"log-000000000009"};
    const archive_limits limits{.keep = milliseconds{100}};
    EXPECT_TRUE(removed(all, 1'149, limits).empty());
    EXPECT_EQ(removed(all, 1'150, limits),
              (std::vector<std::string>{"a/base-000000000001", "a/log-000000000001",
                                        "a/log-000000000002", "a/log-000000000009", "a"}));
}

TEST(an_archives_upkeep, keeps_to_its_room_as_far_as_the_newest_base_allows) {
    const std::vector all{a_stretch("a", 1, 6, {base_of(1, 1), base_of(3, 3), base_of(5, 5)})};
    const auto kept_within = [&](std::uint64_t bytes) {
        return removed(all, 700, {.keep = std::chrono::hours{1}, .bytes_max = bytes}).size();
    };
    EXPECT_EQ(kept_within(0), 0U);
    EXPECT_EQ(kept_within(3'060), 0U);
    EXPECT_EQ(kept_within(3'059), 3U);  // A base and two segments.
    EXPECT_EQ(kept_within(2'000), 6U);
    EXPECT_EQ(kept_within(1), 6U);
}

TEST(an_archives_upkeep, makes_a_base_when_one_is_due) {
    const base_question fresh{.newest = at(1'000),
                              .now = at(1'999),
                              .every = milliseconds{1'000},
                              .bytes_since = 499,
                              .bytes_max = 1'000};
    EXPECT_FALSE(is_base_due(fresh));
    auto asked = fresh;
    asked.newest = {};
    EXPECT_TRUE(is_base_due(asked));
    asked = fresh;
    asked.now = at(2'000);
    EXPECT_TRUE(is_base_due(asked));
    asked = fresh;
    asked.bytes_since = 500;
    EXPECT_TRUE(is_base_due(asked));
    asked.bytes_max = 0;
    EXPECT_FALSE(is_base_due(asked));
}

TEST(a_stretch, can_be_restored_from_its_first_base_that_has_what_it_needs) {
    auto one = a_stretch("a", 1, 9, {base_of(1, 2), base_of(5, 6)});
    EXPECT_EQ(one.oldest(), at(250));
    EXPECT_EQ(one.newest(), at(950));
    EXPECT_EQ(one.bytes(), 2'090U);
    std::erase_if(one.segments, [](const auto& each) { return each.facts.number == 2; });
    EXPECT_EQ(one.oldest(), at(650));
}

}  // namespace
}  // namespace posthorn::standby
