#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn {
namespace {

/// Gives out what it was told to.
class scripted_random final : public random_source {
public:
    explicit scripted_random(std::vector<std::uint64_t> script) : script_(std::move(script)) {}
    void fill(std::span<std::byte>) override {}
    std::uint64_t next() override { return script_.at(drawn_++); }
    std::size_t drawn() const { return drawn_; }

private:
    std::vector<std::uint64_t> script_;
    std::size_t drawn_ = 0;
};

TEST(random_source, below_stays_below_and_reaches_every_value) {
    seeded_random random(1);
    for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 10u}) {
        std::set<std::uint64_t> seen;
        for (int i = 0; i < 1000; ++i) seen.insert(random.below(bound));
        EXPECT_EQ(seen.size(), bound);
        EXPECT_EQ(*seen.rbegin(), bound - 1);
    }
}

TEST(random_source, below_refuses_the_values_that_would_favour_some) {
    // 2^64 mod 3 is 1: of the values only 0 is one too many.
    scripted_random three({0, 1});
    EXPECT_EQ(three.below(3), 1u);
    EXPECT_EQ(three.drawn(), 2u);

    // 2^64 mod (2^63 + 1) is 2^63 - 1.
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    scripted_random large({half - 2, half - 1});
    EXPECT_EQ(large.below(half + 1), half - 1);
    EXPECT_EQ(large.drawn(), 2u);

    scripted_random power({0});
    EXPECT_EQ(power.below(8), 0u);
}

TEST(random_source, below_needs_a_bound) {
    seeded_random random(1);
    EXPECT_DEATH((void)random.below(0), "bound > 0");
}

TEST(random_source, unit_is_at_least_zero_and_less_than_one) {
    scripted_random ends({0, ~std::uint64_t{0}, std::uint64_t{1} << 63});
    EXPECT_EQ(ends.unit(), 0.0);
    EXPECT_EQ(ends.unit(), 1.0 - 0x1.0p-53);
    EXPECT_EQ(ends.unit(), 0.5);
}

TEST(seeded_random, repeats_itself_for_one_seed_and_not_for_another) {
    seeded_random a(42), b(42), c(43);
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t drawn = a.next();
        EXPECT_EQ(drawn, b.next());
        EXPECT_NE(drawn, c.next());
    }
}

TEST(seeded_random, keeps_its_sequence_between_versions) {
    // Written down so that a seed printed by an old run still means the same run.
    seeded_random random(0);
    EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
    EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
    for (int i = 3; i < 1000; ++i) (void)random.next();
    EXPECT_EQ(random.next(), 0x7aac8c483a2edd2fu);
}

TEST(seeded_random, fills_with_the_bytes_of_its_numbers) {
    seeded_random numbers(7), bytes(7);
    std::array<std::byte, 11> filled{};
    bytes.fill(filled);
    const std::array<std::uint64_t, 2> drawn{numbers.next(), numbers.next()};
    for (std::size_t i = 0; i < filled.size(); ++i)
        EXPECT_EQ(filled[i], static_cast<std::byte>(drawn[i / 8] >> (8 * (i % 8)))) << i;
}

TEST(system_random, does_not_repeat_over_many_buffers) {
    system_random random;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(random.next()).second);
}

TEST(system_random, fills_any_size_to_its_end) {
    system_random random;
    random.fill({});
    for (const std::size_t size : {1uz, 7uz, 1024uz, 1025uz, 5000uz}) {
        // A byte that is zero in every one of 16 fills was not written (chance: 2^-128).
        std::vector<std::byte> gathered(size), once(size);
        for (int i = 0; i < 16; ++i) {
            std::ranges::fill(once, std::byte{0});
            random.fill(once);
            for (std::size_t at = 0; at < size; ++at) gathered[at] |= once[at];
        }
        EXPECT_EQ(std::ranges::count(gathered, std::byte{0}), 0) << size;
    }
}

TEST(system_random, gives_two_objects_different_numbers) {
    system_random a, b;
    EXPECT_NE(a.next(), b.next());
}

TEST(system_random, gives_threads_different_numbers) {
    system_random random;
    std::array<std::vector<std::uint64_t>, 4> drawn;
    {
        std::vector<std::jthread> threads;
        for (auto& mine : drawn)
            threads.emplace_back([&] {
                for (int i = 0; i < 5'000; ++i) mine.push_back(random.next());
            });
    }
    std::set<std::uint64_t> seen;
    for (const auto& mine : drawn) seen.insert(mine.begin(), mine.end());
    EXPECT_EQ(seen.size(), 20'000u);
}

TEST(system_random, gives_a_forked_child_different_numbers) {
    system_random random;
    (void)random.next();  // The buffer is full from here on, and the child inherits it.
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::uint64_t drawn = random.next();
        _exit(write(ends[1], &drawn, sizeof(drawn)) == sizeof(drawn) ? 0 : 1);
    }
    std::uint64_t of_child = 0;
    EXPECT_EQ(read(ends[0], &of_child, sizeof(of_child)), ssize_t{sizeof(of_child)});
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    EXPECT_NE(of_child, random.next());
}

}  // namespace
}  // namespace posthorn
