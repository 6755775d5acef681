#include "base/trace/sampler.hpp"

#include <array>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace posthorn {
namespace {

constexpr span_context recorded{.trace = {1, 1}, .span = {1}, .flags = 1};
constexpr span_context not_recorded{.trace = {1, 1}, .span = {1}, .flags = 0};

TEST(sampler, is_known_by_the_names_of_the_standard) {
    for (const std::string_view name :
         {"always_on", "always_off", "traceidratio", "parentbased_always_on",
          "parentbased_always_off", "parentbased_traceidratio"}) {
        const auto one = parse_sampler(name, 0.5);
        ASSERT_TRUE(one) << name;
        EXPECT_EQ(name_of(*one), name);
    }
    EXPECT_FALSE(parse_sampler("jaeger_remote", 1));
    EXPECT_FALSE(parse_sampler("", 1));
}

TEST(sampler, heeds_a_parent_where_it_is_to) {
    struct row {
        std::string_view name;
        bool of_root;
        bool of_recorded;
        bool of_not_recorded;
    };
    for (const auto& [name, of_root, of_recorded, of_not_recorded] :
         {row{"always_on", true, true, true}, row{"always_off", false, false, false},
          row{"parentbased_always_on", true, true, false},
          row{"parentbased_always_off", false, true, false},
          row{"parentbased_traceidratio", false, true, false}}) {
        const auto one = *parse_sampler(name, 0);
        EXPECT_EQ(one.samples({1, 1}, nullptr), of_root) << name;
        EXPECT_EQ(one.samples({1, 1}, &recorded), of_recorded) << name;
        EXPECT_EQ(one.samples({1, 1}, &not_recorded), of_not_recorded) << name;
    }
}

TEST(sampler, keeps_its_share_and_the_same_traces_everywhere) {
    seeded_random random(7);
    constexpr int traces = 10'000;
    std::array<int, 3> kept{};
    constexpr std::array<double, 3> shares{0.01, 0.25, 0.9};
    for (int i = 0; i < traces; ++i) {
        const trace_id of{random.next(), random.next()};
        bool before = false;
        for (std::size_t s = 0; s < shares.size(); ++s) {
            const bool now = parse_sampler("traceidratio", shares[s])->samples(of, nullptr);
            EXPECT_TRUE(now || !before) << "what a smaller share keeps, a larger one keeps too";
            kept[s] += now ? 1 : 0;
            before = now;
        }
    }
    for (std::size_t s = 0; s < shares.size(); ++s)
        EXPECT_NEAR(kept[s], shares[s] * traces, 0.02 * traces);
    EXPECT_TRUE(parse_sampler("traceidratio", 1)->samples({UINT64_MAX, UINT64_MAX}, nullptr));
    EXPECT_FALSE(parse_sampler("traceidratio", 0)->samples({0, 1}, nullptr));
}

}  // namespace
}  // namespace posthorn
