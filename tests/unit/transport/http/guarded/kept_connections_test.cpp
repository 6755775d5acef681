#include "transport/http/guarded/kept_connections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

steady_time at(std::chrono::nanoseconds since) { return steady_time(since); }

kept_connections<int> make() {
    return kept_connections<int>({.idle_max = 3, .age_max = 300s, .idle_time_max = 60s});
}

TEST(kept_connections, are_given_to_their_own_origin_the_last_used_first) {
    auto kept = make();
    EXPECT_THAT(kept.put("a", 1, at(0s), at(0s)), IsEmpty());
    EXPECT_THAT(kept.put("b", 2, at(0s), at(1s)), IsEmpty());
    EXPECT_THAT(kept.put("a", 3, at(0s), at(2s)), IsEmpty());
    EXPECT_EQ(kept.take("c", at(3s)), std::nullopt);
    EXPECT_EQ(kept.take("a", at(3s)), 3);
    EXPECT_EQ(kept.take("a", at(3s)), 1);
    EXPECT_EQ(kept.take("a", at(3s)), std::nullopt);
    EXPECT_EQ(kept.size(), 1U);
}

TEST(kept_connections, beyond_their_number_the_oldest_go) {
    auto kept = make();
    for (const int each : {1, 2, 3})
        EXPECT_THAT(kept.put("a", each, at(0s), at(1s * each)), IsEmpty());
    EXPECT_THAT(kept.put("b", 4, at(0s), at(4s)), ElementsAre(1));
    EXPECT_EQ(kept.take_oldest(), 2);
    EXPECT_EQ(kept.size(), 2U);
}

TEST(kept_connections, go_when_they_are_old_or_idle_for_long) {
    auto kept = make();
    EXPECT_EQ(kept.next_end(), std::nullopt);
    EXPECT_THAT(kept.put("a", 1, at(0s), at(290s)), IsEmpty());
    EXPECT_EQ(kept.next_end(), at(300s));
    EXPECT_THAT(kept.put("a", 2, at(100s), at(291s)), IsEmpty());
    EXPECT_EQ(kept.take("a", at(299s)), 2);
    EXPECT_EQ(kept.take("a", at(300s)), std::nullopt) << "it is five minutes old";
    EXPECT_THAT(kept.put("a", 3, at(100s), at(295s)), ElementsAre()) << "one second before";
    EXPECT_THAT(kept.take_old(at(354s)), ElementsAre(1));
    EXPECT_THAT(kept.take_old(at(355s)), ElementsAre(3)) << "idle for a minute";
    EXPECT_EQ(kept.size(), 0U);
}

TEST(kept_connections, what_comes_back_too_old_is_not_kept) {
    auto kept = make();
    EXPECT_THAT(kept.put("a", 1, at(0s), at(300s)), ElementsAre(1));
    EXPECT_EQ(kept.size(), 0U);
}

}  // namespace
}  // namespace posthorn
