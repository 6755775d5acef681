#include "outbox/lane/reachability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr wall_time noon{1'900'000'000'000ms};

TEST(reachability, a_peer_is_there_if_it_answers_anything_at_all) {
    const delivery silent{.what = outcome::unanswered, .code = error_code::unreachable};
    const delivery late{.what = outcome::unanswered, .code = error_code::timed_out};
    const delivery failed{.what = outcome::transient, .error = "the handler threw"};
    const delivery refused{.what = outcome::undeliverable, .code = error_code::no_handler};
    EXPECT_FALSE(shows_a_peer(std::vector{silent, late}));
    EXPECT_TRUE(shows_a_peer(std::vector{silent, failed}));
    EXPECT_TRUE(shows_a_peer(std::vector{refused}));
    EXPECT_TRUE(shows_a_peer(std::vector{delivery{.what = outcome::delivered}}));
}

TEST(reachability, tells_since_when_a_destination_answers_or_does_not) {
    reachability peers;
    peers.note("stock", true, noon);
    peers.note("stock", true, noon + 1h);
    peers.note("billing", false, noon);
    EXPECT_THAT(peers.list(),
                ElementsAre(peer_state{"billing", false, noon}, peer_state{"stock", true, noon}));
    peers.note("stock", false, noon + 2h);
    EXPECT_THAT(peers.list(), ElementsAre(peer_state{"billing", false, noon},
                                          peer_state{"stock", false, noon + 2h}));
}

TEST(reachability, knows_a_thousand_destinations_and_no_more) {
    reachability peers;
    for (int i = 0; i < 1500; ++i) peers.note(std::to_string(i), true, noon);
    EXPECT_EQ(peers.list().size(), 1000U);
}

}  // namespace
}  // namespace posthorn
