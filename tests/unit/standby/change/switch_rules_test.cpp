// How the role of the primary changes hands: the table, and every pair of cuts at every step.
#include "standby/change/switch_rules.hpp"

#include <deque>
#include <set>

#include <gmock/gmock.h>

namespace posthorn::standby {
namespace {

using testing::HasSubstr;

constexpr stream_id stream{std::byte{7}};
log_place at(std::uint64_t offset) {
    return {.salts = {std::byte{1}}, .offset = offset, .sum = {}};
}

pair_state primary(std::uint64_t epoch = 3) {
    return {.as = pair_state::role::primary,
            .stream = stream,
            .epoch = epoch,
            .phase = standby_phase::promoted};
}
pair_state standby(std::uint64_t epoch = 3) {
    return {.stream = stream, .epoch = epoch, .phase = standby_phase::following};
}

TEST(the_role, is_taken_by_a_standby_that_has_all_of_it) {
    const link_hand_over offer{.epoch = 4, .at = at(900)};
    EXPECT_EQ(refuse_role(standby(), at(900), offer), "");
    const auto taken = take_role(standby(), offer);
    EXPECT_EQ(taken.phase, standby_phase::promoted);
    EXPECT_EQ(taken.epoch, 4U);
    EXPECT_EQ(taken.began, at(900));
    EXPECT_FALSE(may_lead(taken));  // Before it was promoted to the end.
}

TEST(the_role, is_refused_in_words) {
    const link_hand_over offer{.epoch = 4, .at = at(900)};
    EXPECT_THAT(refuse_role(standby(), at(800), offer), HasSubstr("the primary's ends at"));
    EXPECT_THAT(refuse_role(standby(4), at(900), offer), HasSubstr("epoch 4 already"));
    auto copying = standby();
    copying.phase = standby_phase::copying;
    EXPECT_THAT(refuse_role(copying, at(900), offer), HasSubstr("its copy is copying"));
    EXPECT_THAT(refuse_role(primary(), at(900), offer), HasSubstr("only one that follows"));
}

TEST(the_role, is_neither_led_nor_followed_with_while_it_changes_hands) {
    const auto handing = give_role_away(primary(), at(900));
    EXPECT_TRUE(may_lead(primary()));
    EXPECT_FALSE(may_lead(handing));
    EXPECT_EQ(handing.parting, at(900));
    EXPECT_EQ(take_back(handing), primary());
    EXPECT_FALSE(may_lead(become_standby(handing, 4)));
    EXPECT_EQ(become_standby(handing, 4).epoch, 4U);
    EXPECT_GT(take_by_force(handing).epoch, 4U);  // More than what the other may be.
}

TEST(the_role, is_known_by_what_the_other_one_is) {
    const auto handing = give_role_away(primary(), at(900));
    const auto judge = [&](standby_phase phase, std::uint64_t epoch, stream_id of = stream) {
        return judge_handing(handing, {.stream = of, .epoch = epoch, .phase = phase});
    };
    EXPECT_EQ(judge(standby_phase::following, 3), handing_end::not_taken);
    EXPECT_EQ(judge(standby_phase::promoted, 4), handing_end::taken);
    EXPECT_EQ(judge(standby_phase::following, 4), handing_end::taken);
    EXPECT_EQ(judge(standby_phase::promoted, 3), handing_end::taken);
    EXPECT_EQ(judge(standby_phase::copying, 3), handing_end::unknown);
    EXPECT_EQ(judge(standby_phase::empty, 0), handing_end::unknown);
    EXPECT_EQ(judge(standby_phase::following, 2), handing_end::unknown);
    EXPECT_EQ(judge(standby_phase::promoted, 4, {}), handing_end::unknown);
}

/// Both of a pair, what is on the way between them, and what may happen next.
struct world {
    enum class doing : std::uint8_t { leads, has_given, waits, asks, follows, has_taken, down };
    enum class answer : std::uint8_t { none, taken, refused };

    pair_state one = primary();
    pair_state two = standby();
    doing one_does = doing::leads;
    doing two_does = doing::follows;
    std::uint64_t one_log = 1;
    std::uint64_t two_log = 1;
    bool connected = true;
    bool offer = false;  // On the way to two, or in its hands: no other connection is heard before.
    answer said = answer::none;  // On the way to one.
    int cuts = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("{}|{}|{} {} {} {} {} {} {} {}", to_text(one), to_text(two),
                           static_cast<int>(one_does), static_cast<int>(two_does), one_log, two_log,
                           connected, offer, static_cast<int>(said), cuts);
    }
};

using doing = world::doing;
using answer = world::answer;

doing after_restart(const pair_state& kept) {
    if (may_lead(kept)) return doing::leads;
    if (kept.phase == standby_phase::handing) return doing::asks;
    if (kept.phase == standby_phase::promoted) return doing::has_taken;
    return doing::follows;
}

/// All that may come next, but for cuts.
std::vector<world> steps_of(const world& now) {
    std::vector<world> all;
    const auto add = [&](auto change) {
        auto next = now;
        change(next);
        all.push_back(std::move(next));
    };
    const link_hand_over offer{.epoch = now.one.epoch + 1, .at = at(now.one_log)};
    if (now.one_does == doing::leads && now.two_does == doing::follows && !now.offer) {
        constexpr std::uint64_t log_max = 3;
        if (now.connected && now.one_log < log_max && now.one_log == now.two_log)
            add([](world& next) { next.one_log = ++next.two_log; });
        if (now.connected && now.one.epoch < 5)
            add([&](world& next) {
                next.one = give_role_away(next.one, at(next.one_log));
                next.one_does = doing::has_given;
            });
        if (!now.connected) add([](world& next) { next.connected = true; });
    }
    if (now.one_does == doing::has_given)
        add([](world& next) {
            next.offer = next.connected;
            next.one_does = next.connected ? doing::waits : doing::asks;
        });
    if (now.offer && now.two_does == doing::follows)
        add([&](world& next) {
            next.offer = false;
            if (refuse_role(next.two, at(next.two_log), offer).empty()) {
                next.two = take_role(next.two, offer);
                next.two_does = doing::has_taken;
            } else if (next.connected) {
                next.said = answer::refused;
            }
        });
    if (now.offer && !now.connected) add([](world& next) { next.offer = false; });
    if (now.two_does == doing::has_taken)
        add([](world& next) {
            if (next.connected && next.one_does == doing::waits) next.said = answer::taken;
            next.two.as = pair_state::role::primary;
            next.two_does = doing::leads;
            next.connected = false;
        });
    if (now.one_does == doing::waits && now.said == answer::taken)
        add([&](world& next) {
            next.said = answer::none;
            next.one = become_standby(next.one, offer.epoch);
            next.one_does = doing::follows;
        });
    if (now.one_does == doing::waits && now.said == answer::refused)
        add([](world& next) {
            next.said = answer::none;
            next.one = take_back(next.one);
            next.one_does = doing::leads;
        });
    if (now.one_does == doing::waits && !now.connected)
        add([](world& next) {  // What was said may be lost on the way.
            next.said = answer::none;
            next.one_does = doing::asks;
        });
    if (now.one_does == doing::asks && !now.offer) {
        const standby_place two{.stream = stream,
                                .epoch = now.two.epoch,
                                .phase = now.two.as == pair_state::role::primary
                                             ? standby_phase::promoted
                                             : now.two.phase};
        const auto heard = judge_handing(now.one, two);
        if (now.two_does == doing::follows && heard == handing_end::not_taken)
            add([](world& next) {
                next.one = take_back(next.one);
                next.one_does = doing::leads;
            });
        if (now.two_does == doing::leads && heard == handing_end::taken)
            add([](world& next) {
                next.one = become_standby(next.one, next.two.epoch);
                next.one_does = doing::follows;
            });
    }
    if (now.one_does == doing::down)
        add([](world& next) { next.one_does = after_restart(next.one); });
    if (now.two_does == doing::down)
        add([](world& next) { next.two_does = after_restart(next.two); });
    return all;
}

std::vector<world> cuts_of(const world& now) {
    std::vector<world> all;
    const auto add = [&](auto change) {
        auto next = now;
        ++next.cuts;
        next.connected = false;
        change(next);
        all.push_back(std::move(next));
    };
    if (now.one_does != doing::down)
        add([](world& next) {
            next.one_does = doing::down;
            next.said = answer::none;
        });
    if (now.two_does != doing::down)
        add([](world& next) {
            next.two_does = doing::down;
            next.offer = false;
        });
    if (now.connected) add([](world&) {});
    return all;
}

/// Visits every world that can be reached with so many cuts.
template <class Look>
std::size_t visit_all(const world& first, int cuts_max, const Look& look) {
    std::set<std::string> seen{first.name()};
    std::deque<world> open{first};
    while (!open.empty()) {
        const auto now = open.front();
        open.pop_front();
        auto next = steps_of(now);
        look(now, next);
        if (now.cuts < cuts_max) std::ranges::move(cuts_of(now), std::back_inserter(next));
        for (auto& each : next)
            if (seen.insert(each.name()).second) open.push_back(std::move(each));
    }
    return seen.size();
}

void expect_sound(const world& now, const std::vector<world>& next) {
    ASSERT_FALSE(now.one_does == doing::leads && now.two_does == doing::leads) << now.name();
    if (now.two_does == doing::leads) {
        ASSERT_TRUE(now.two.began) << now.name();
        ASSERT_EQ(now.two.began->offset, now.two_log) << now.name();
        ASSERT_EQ(now.one_log, now.two_log) << "lost: " << now.name();
        ASSERT_GT(now.two.epoch, 3U);
    }
    if (!next.empty()) return;
    // Nothing more happens by itself: one of them leads, and the other one follows it.
    const bool one_leads = now.one_does == doing::leads && now.two_does == doing::follows;
    const bool two_leads = now.two_does == doing::leads && now.one_does == doing::follows;
    ASSERT_TRUE(one_leads || two_leads) << now.name();
}

TEST(the_role, is_had_by_one_and_lost_by_none_with_every_pair_of_cuts) {
    EXPECT_GT(visit_all({}, 2, expect_sound), 200U);
}

TEST(the_role, is_kept_with_every_pair_of_cuts_where_the_standby_lacks_something) {
    world behind;
    behind.one_log = 2;  // Of others, who wrote at the last moment.
    visit_all(behind, 2, [](const world& now, const std::vector<world>& /*next*/) {
        ASSERT_NE(now.two_does, doing::leads) << now.name();
        ASSERT_EQ(now.two.phase, standby_phase::following) << now.name();
    });
}

}  // namespace
}  // namespace posthorn::standby
