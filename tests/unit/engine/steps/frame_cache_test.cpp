#include "engine/steps/frame_cache.hpp"

#include <gtest/gtest.h>

#include <posthorn/workflow.hpp>

namespace posthorn {
namespace {

workflow<void> nothing(flow<>& f) { co_await f.sleep(std::chrono::hours{1}); }

std::unique_ptr<frame> frame_of(std::int64_t instance) {
    auto made = std::make_unique<frame>();
    made->of.instance = instance;
    made->flow = detail::workflow_entry::make<void, no_state>(
        reinterpret_cast<detail::workflow_entry::any_function>(&nothing), uuid{});
    return made;
}

TEST(frame_cache, gives_what_it_was_given_once) {
    frame_cache cache(1'000'000);
    cache.put(frame_of(7));
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_GT(cache.bytes(), 0U);
    const auto found = cache.take(7);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->of.instance, 7);
    EXPECT_EQ(cache.take(7), nullptr);
    EXPECT_EQ(cache.bytes(), 0U);
}

TEST(frame_cache, lets_the_least_recently_used_go_when_it_is_full) {
    const auto one = frame_of(1)->bytes();
    frame_cache cache(3 * one);
    for (const std::int64_t instance : {1, 2, 3}) cache.put(frame_of(instance));
    cache.put(cache.take(1));
    cache.put(frame_of(4));
    EXPECT_EQ(cache.size(), 3U);
    EXPECT_LE(cache.bytes(), 3 * one);
    EXPECT_EQ(cache.take(2), nullptr);
    EXPECT_NE(cache.take(1), nullptr);
}

TEST(frame_cache, keeps_nothing_where_nothing_may_be_kept) {
    frame_cache cache(0);
    cache.put(frame_of(1));
    EXPECT_EQ(cache.size(), 0U);
    EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace posthorn
