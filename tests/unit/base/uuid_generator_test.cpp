#include "base/uuid_generator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time start = wall_time(1'771'070'400'123ms);

class uuid_generator_test : public testing::Test {
protected:
    wall_time now = start;
    seeded_random random{1};
    uuid_generator ids{[this] { return now; }, random};
};

/// Every draw is the same, so that only the counter tells two ids apart.
class constant_random final : public random_source {
public:
    explicit constant_random(std::uint64_t value) : value_(value) {}
    void fill(std::span<std::byte> out) override { std::ranges::fill(out, std::byte{0}); }
    std::uint64_t next() override { return value_; }

private:
    std::uint64_t value_;
};

std::uint32_t counter_of(const uuid& id) {
    const auto& b = id.bytes();
    return (b[6] & 0xfu) << 22 | std::uint32_t{b[7]} << 14 | (b[8] & 0x3fu) << 8 | b[9];
}

TEST_F(uuid_generator_test, sets_version_and_variant) {
    for (int i = 0; i < 10'000; ++i, now += 1ms) {
        const uuid id = ids.next();
        ASSERT_EQ(id.version(), 7);
        ASSERT_EQ(id.bytes()[8] >> 6, 0b10);
    }
}

TEST_F(uuid_generator_test, tells_the_time_of_the_clock) {
    EXPECT_EQ(ids.next().time(), start);
    now += 1h;
    EXPECT_EQ(ids.next().time(), start + 1h);
}

TEST_F(uuid_generator_test, rises_through_a_million_ids_of_one_millisecond) {
    uuid last = ids.next();
    for (int i = 1; i < 1'000'000; ++i) {
        const uuid id = ids.next();
        ASSERT_LT(last, id) << i;
        last = id;
    }
    EXPECT_EQ(last.time(), start) << "a burst of a million does not run ahead of the clock";
}

TEST_F(uuid_generator_test, rises_by_the_counter_and_not_by_chance) {
    constant_random same(0x0005'ffff'ffff'ffff);
    uuid_generator unlucky([this] { return now; }, same);
    uuid last = unlucky.next();
    EXPECT_EQ(counter_of(last), 5u);
    for (std::uint32_t i = 1; i < 100'000; ++i) {
        const uuid id = unlucky.next();
        ASSERT_LT(last, id);
        ASSERT_EQ(counter_of(id), 5 + i) << "through every bit border of the counter";
        last = id;
    }
}

TEST(uuid_position, starts_a_new_millisecond_at_the_seed) {
    EXPECT_EQ((uuid_position{5, 9}.after(6, 3)), (uuid_position{6, 3}));
}

TEST(uuid_position, counts_on_within_a_millisecond_and_when_the_clock_is_behind) {
    EXPECT_EQ((uuid_position{5, 9}.after(5, 3)), (uuid_position{5, 10}));
    EXPECT_EQ((uuid_position{5, 9}.after(4, 3)), (uuid_position{5, 10}));
}

TEST(uuid_position, carries_a_spent_counter_into_the_millisecond) {
    constexpr uuid_position spent{5, uuid_position::counter_max};
    EXPECT_EQ((uuid_position{5, uuid_position::counter_max - 1}.after(5, 3)), spent);
    EXPECT_EQ(spent.after(5, 3), (uuid_position{6, 3}));
    EXPECT_EQ(spent.after(2, 3), (uuid_position{6, 3}));
    EXPECT_EQ((uuid_position{6, 3}.after(6, 1)), (uuid_position{6, 4})) << "the clock catches up";
}

TEST_F(uuid_generator_test, counts_on_when_the_clock_goes_backwards) {
    uuid last = ids.next();
    for (const auto back : {1ms, 1000ms, 3'600'000ms}) {
        now = start - back;
        const uuid id = ids.next();
        EXPECT_LT(last, id);
        EXPECT_EQ(id.time(), start);
        last = id;
    }
    now = start + 1ms;
    EXPECT_EQ(ids.next().time(), start + 1ms);
}

TEST_F(uuid_generator_test, survives_a_clock_outside_48_bits) {
    now = wall_time(-5ms);
    const uuid before = ids.next();
    EXPECT_EQ(before.time(), wall_time(0ms));
    now = wall_time(std::chrono::milliseconds::max());
    const uuid after = ids.next();
    EXPECT_EQ(after.time(), wall_time(std::chrono::milliseconds((std::int64_t{1} << 48) - 1)));
    EXPECT_LT(after, ids.next());
}

TEST_F(uuid_generator_test, draws_48_new_bits_for_each_id) {
    std::array<std::uint8_t, 6> ever_set{}, ever_clear{};
    std::set<std::vector<std::uint8_t>> tails;
    for (int i = 0; i < 1000; ++i) {
        const uuid id = ids.next();
        const std::vector<std::uint8_t> tail(id.bytes().begin() + 10, id.bytes().end());
        for (std::size_t at = 0; at < tail.size(); ++at) {
            ever_set[at] |= tail[at];
            ever_clear[at] = static_cast<std::uint8_t>(ever_clear[at] | ~tail[at]);
        }
        tails.insert(tail);
    }
    EXPECT_EQ(tails.size(), 1000u);
    EXPECT_EQ(std::ranges::count(ever_set, 0xff), 6);
    EXPECT_EQ(std::ranges::count(ever_clear, 0xff), 6);
}

TEST_F(uuid_generator_test, starts_each_millisecond_at_another_count) {
    std::set<std::uint32_t> starts;
    for (int i = 0; i < 100; ++i, now += 1ms) starts.insert(counter_of(ids.next()));
    EXPECT_GT(starts.size(), 90u);
}

TEST(uuid_generator_threads, make_ids_that_are_unique_and_rise_in_each_thread) {
    std::atomic<std::int64_t> ticks{0};  // Jumps back now and then, as seen by each thread.
    system_random random;
    uuid_generator ids([&] { return start + std::chrono::milliseconds(ticks++ / 100 % 50); },
                       random);
    std::array<std::vector<uuid>, 4> made;
    {
        std::vector<std::jthread> threads;
        for (auto& mine : made)
            threads.emplace_back([&] {
                for (int i = 0; i < 25'000; ++i) mine.push_back(ids.next());
            });
    }
    std::vector<uuid> all;
    for (const auto& mine : made) {
        EXPECT_EQ(std::ranges::adjacent_find(mine, std::ranges::greater_equal{}), mine.end());
        all.insert(all.end(), mine.begin(), mine.end());
    }
    // Without the random tail: time and counter alone must already tell all ids apart.
    for (uuid& id : all) {
        auto bytes = id.bytes();
        std::fill(bytes.begin() + 10, bytes.end(), std::uint8_t{0});
        id = uuid(bytes);
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    EXPECT_EQ(all.size(), 100'000u);
}

}  // namespace
}  // namespace posthorn
