// A pair and its witness in virtual time: what the rules are for.
#include "unit/standby/witness/witness_world.hpp"

namespace posthorn::standby {
namespace {

using namespace std::chrono_literals;
using world = witness_world;

TEST(a_pair_with_a_witness, promotes_nothing_in_an_hour_of_lost_packets) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(seed);
        world all(seed, {.loss = 0.2, .delay_max = 200ms});
        all.run(1h);
        ASSERT_EQ(all.promotions(), 0);
        ASSERT_GT(all.answered(), 2'000U);
    }
}

TEST(a_pair_with_a_witness, has_another_primary_within_five_seconds_of_a_kill) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        world all(seed, {});
        all.run(20s + std::chrono::milliseconds(static_cast<std::int64_t>(all.dice().below(900))));
        ASSERT_TRUE(all.acts(world::one));
        all.kill(world::one);
        all.run(5s);
        ASSERT_TRUE(all.acts(world::two));
        all.start(world::one);
        all.run(10s);
        ASSERT_FALSE(all.is_primary(world::one));
        ASSERT_TRUE(all.acts(world::two));
        // And back.
        all.run(10s);
        all.kill(world::two);
        all.run(5s);
        ASSERT_TRUE(all.acts(world::one));
        ASSERT_EQ(all.promotions(), 2);
    }
}

TEST(a_pair_with_a_witness, promotes_nothing_without_it) {
    world all(1, {});
    all.run(20s);
    all.kill_witness();
    all.run(1min);
    EXPECT_TRUE(all.acts(world::one));  // Its standby answers.
    all.kill(world::one);
    all.run(1h);
    EXPECT_EQ(all.promotions(), 0);
    EXPECT_FALSE(all.acts(world::two));
}

TEST(a_pair_with_a_witness, goes_on_without_its_standby_by_leave_of_the_witness) {
    world all(2, {});
    all.run(20s);
    all.kill(world::two);
    all.run(10s);
    EXPECT_TRUE(all.acts(world::one));
    // Then the standby must not take its place, since it lacks what was answered.
    all.kill(world::one);
    all.start(world::two);
    all.run(10min);
    EXPECT_EQ(all.promotions(), 0);
    all.start(world::one);
    all.run(30s);
    EXPECT_TRUE(all.acts(world::one));
}

TEST(a_pair_with_a_witness, that_may_not_go_alone_waits_for_its_standby) {
    world all(3, {.may_go_alone = false});
    all.run(20s);
    all.kill(world::two);
    all.run(10s);
    EXPECT_FALSE(all.acts(world::one));
    EXPECT_TRUE(all.is_primary(world::one));
    all.start(world::two);
    all.run(10s);
    EXPECT_TRUE(all.acts(world::one));
    EXPECT_EQ(all.promotions(), 0);
}

TEST(a_pair_with_a_witness, stops_a_primary_that_was_paused_for_an_hour) {
    world all(4, {});
    all.run(20s);
    all.pause(world::one, 1h);
    all.run(1h - 1s);
    EXPECT_EQ(all.promotions(), 1);
    EXPECT_TRUE(all.acts(world::two));
    all.run(10s);  // Two that act at a time would have been seen.
    EXPECT_FALSE(all.is_primary(world::one));
}

/// What can go wrong, drawn.
class trouble {
public:
    explicit trouble(world& in) : in_(in) {}
    bool by_hand = false;
    bool restores = false;

    void make() {
        auto& dice = in_.dice();
        const auto time = std::chrono::milliseconds(static_cast<std::int64_t>(dice.below(15'000)));
        const auto who = dice.below(2) == 0 ? world::one : world::two;
        switch (dice.below(11)) {
            case 0:
            case 1: {
                const auto from = static_cast<world::end>(dice.below(3));
                const auto to = static_cast<world::end>(dice.below(3));
                in_.cut(from, to, time);
                if (dice.below(2) == 0) in_.cut(to, from, time);
                break;
            }
            case 2: in_.pause(who, time); break;
            case 3:
                if (in_.is_up(who)) in_.kill(who);
                break;
            case 4:
            case 5:
                if (!in_.is_up(who)) in_.start(who);
                break;
            case 6:
                if (in_.witness_is_up()) in_.kill_witness();
                break;
            case 7:
                if (!in_.witness_is_up()) in_.start_witness(in_.kept());
                break;
            case 8: cut_off(time, false); break;
            case 9: cut_off(time, true); break;
            default: by_a_person(who); break;
        }
    }

private:
    /// The primary: nothing comes from it, or nothing to it either.
    void cut_off(std::chrono::milliseconds time, bool both_ways) {
        const auto who = in_.is_primary(world::one) ? world::one : world::two;
        for (const auto other : {world::one, world::two, world::witness}) {
            in_.cut(who, other, time);
            if (both_ways) in_.cut(other, who, time);
        }
    }
    void by_a_person(world::end who) {
        auto& dice = in_.dice();
        if (restores && dice.below(4) == 0) in_.start_witness(backup_);
        if (dice.below(4) == 0) backup_ = in_.kept();
        const auto other = who == world::one ? world::two : world::one;
        if (by_hand && dice.below(4) == 0 && !in_.is_up(other)) in_.promote_by_hand(who);
    }

    world& in_;
    witness_state backup_ = in_.kept();
};

struct tally {
    int promotions = 0;
    std::size_t answered = 0;
};

tally live_through(std::uint64_t seeds, const world::rules& how, bool by_hand, bool restores) {
    tally seen;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        world all(seed, how);
        trouble maker(all);
        maker.by_hand = by_hand;
        maker.restores = restores;
        for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
            all.run(std::chrono::milliseconds(static_cast<std::int64_t>(all.dice().below(5'000))));
            maker.make();
        }
        seen.promotions += all.promotions();
        seen.answered += all.answered();
        if (testing::Test::HasFatalFailure()) break;
    }
    return seen;
}

TEST(a_pair_with_a_witness, never_has_two_primaries_and_loses_nothing_that_was_answered) {
    const auto seen = live_through(60, {.loss = 0.1, .delay_max = 3s}, false, false);
    EXPECT_GT(seen.promotions, 20);
    EXPECT_GT(seen.answered, 1'500U);
}

TEST(a_pair_with_a_witness, never_has_two_primaries_though_one_is_promoted_by_hand) {
    const auto seen = live_through(60, {.loss = 0.1, .delay_max = 3s}, true, false);
    EXPECT_GT(seen.promotions, 20);
}

TEST(a_pair_with_a_witness, never_has_two_primaries_though_the_witness_comes_from_a_backup) {
    live_through(60,
                 {.loss = 0.1, .delay_max = 500ms, .epochs_rise = false, .expects_no_loss = false},
                 false, true);
}

}  // namespace
}  // namespace posthorn::standby
