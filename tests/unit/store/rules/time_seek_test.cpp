#include "store/rules/time_seek.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

struct made_row {
    std::int64_t seq = 0;
    wall_time at{};
};

wall_time second(std::int64_t number) { return wall_time{std::chrono::seconds{number}}; }

/// Rows 1 to `count`, made a second apart.
std::vector<made_row> rows_of(std::int64_t count) {
    std::vector<made_row> rows;
    for (std::int64_t seq = 1; seq <= count; ++seq) rows.push_back({seq, second(seq)});
    return rows;
}

struct sought {
    std::int64_t end = 0;
    int looks = 0;
};

sought seek_in(const std::vector<made_row>& table, std::int64_t top, wall_time until) {
    time_seek seek(top, until);
    sought found;
    for (; !seek.is_done(); ++found.looks) {
        auto row = std::ranges::lower_bound(table, seek.place(), {}, &made_row::seq);
        bool older = false;
        for (std::int64_t i = 0; i < time_seek::rows_per_look && row != table.end(); ++i, ++row)
            older = older || seek.is_older(row->at);
        seek.saw(older);
    }
    found.end = seek.end();
    return found;
}

/// How many rows below `top` that were made before `until` lie above where a list would begin.
std::ptrdiff_t left_out(const std::vector<made_row>& table, std::int64_t top, wall_time until) {
    const auto end = seek_in(table, top, until).end;
    return std::ranges::count_if(table, [&](const made_row& row) {
        return row.seq >= end && row.seq < top && row.at < until;
    });
}

TEST(time_seek, comes_close_in_few_looks) {
    const auto table = rows_of(2'000'000);
    constexpr std::int64_t top = 2'000'001;
    for (const std::int64_t number :
         {0, 1, 9'999, 10'000, 700'000, 1'999'000, 2'000'000, 3'000'000}) {
        SCOPED_TRACE(number);
        EXPECT_EQ(left_out(table, top, second(number)), 0);
        const auto [end, looks] = seek_in(table, top, second(number));
        EXPECT_LE(end - number, time_seek::rows_near + 100);
        EXPECT_LE(looks, 72);
    }
}

TEST(time_seek, looks_at_nothing_where_all_is_near) {
    const auto [end, looks] = seek_in(rows_of(20'000), 20'000, second(3));
    EXPECT_EQ(end, 20'000);
    EXPECT_EQ(looks, 0);
    EXPECT_EQ(seek_in({}, 0, second(3)).end, 0);
}

TEST(time_seek, stays_below_where_a_page_begins) {
    const auto table = rows_of(200'000);
    EXPECT_EQ(seek_in(table, 50'000, second(190'000)).end, 50'000);
    EXPECT_EQ(left_out(table, 50'000, second(10'000)), 0);
    EXPECT_LE(seek_in(table, 50'000, second(10'000)).end, 30'100);
}

TEST(time_seek, passes_gaps_by) {
    auto table = rows_of(200'000);
    std::erase_if(table, [](const made_row& row) { return row.seq > 100 && row.seq < 180'000; });
    for (const std::int64_t number : {50, 179'999, 190'000})
        EXPECT_EQ(left_out(table, 200'001, second(number)), 0) << number;
}

TEST(time_seek, is_not_led_astray_by_rows_with_a_later_time_than_their_place) {
    auto table = rows_of(200'000);
    for (auto& row : table) {
        if (row.seq % 3 != 0) row.at = second(4'000'000'000);  // Of a producer of its own mind.
        // Given up for hours, and requeued under new ids.
        if (row.seq > 60'000 && row.seq < 69'000) row.at = second(150'000);
    }
    for (const std::int64_t number : {59'000, 60'001, 69'001, 70'000, 149'000, 151'000})
        EXPECT_EQ(left_out(table, 200'001, second(number)), 0) << number;
}

TEST(time_seek, begins_higher_up_where_an_older_row_is_seen) {
    auto table = rows_of(200'000);
    for (auto& row : table)
        if (row.seq % 10 == 0) row.at = wall_time{};
    EXPECT_EQ(left_out(table, 200'001, second(30'000)), 0);
}

}  // namespace
}  // namespace posthorn
