// What primary and standby tell people, by what they have seen.
#include "standby/shipping.hpp"

#include <gmock/gmock.h>

#include "standby/following.hpp"
#include "standby/promotion.hpp"

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using state = ship_report::state;

standby_settings with(ship_mode mode, when_lost lost) {
    return {
        .to = host_port{"127.0.0.1", 7402}, .mode = mode, .lost = lost, .lag_alarm = seconds{10}};
}
standby_settings waits() { return with(ship_mode::sync, when_lost::wait); }
standby_settings goes_on() { return with(ship_mode::sync, when_lost::alone); }
standby_settings ships_behind() { return with(ship_mode::async, when_lost::wait); }

/// "red text" of the only one.
std::string the_worry(const ship_report& seen, const standby_settings& how) {
    const auto all = worries_of(seen, how);
    if (all.size() != 1) return fmt::format("{} worries", all.size());
    const auto& one = all.front();
    return (one.how == health_level::red ? "red " : "yellow ") + one.what;
}

TEST(a_primary, is_well_while_its_standby_follows) {
    const ship_report seen{.how = state::following, .has_tried = true};
    EXPECT_TRUE(worries_of(seen, waits()).empty());
    EXPECT_EQ(loss_of(seen, waits()), "nothing that was answered");
    EXPECT_EQ(loss_of(seen, ships_behind()), "nothing");
}

TEST(a_primary, says_nothing_before_it_has_tried) { EXPECT_TRUE(worries_of({}, waits()).empty()); }

TEST(a_primary, is_red_without_its_standby_where_it_waits_for_it) {
    const ship_report away{.has_tried = true, .trouble = "no route"};
    EXPECT_THAT(the_worry(away, waits()), testing::StartsWith("red the standby 127.0.0.1:7402"));
    EXPECT_THAT(the_worry(away, waits()), HasSubstr("no route"));
    EXPECT_THAT(the_worry(away, goes_on()), testing::StartsWith("yellow "));
    EXPECT_THAT(the_worry(away, ships_behind()), HasSubstr("answered without it"));
}

TEST(a_primary, says_that_another_may_have_taken_its_place) {
    const ship_report refused{.has_tried = true, .is_refused = true, .trouble = "epoch 2"};
    EXPECT_THAT(the_worry(refused, waits()), HasSubstr("posthorn standby rejoin"));
    EXPECT_THAT(the_worry(refused, waits()), HasSubstr("epoch 2"));
}

TEST(a_primary, says_that_a_copy_is_not_whole_yet) {
    const ship_report copying{.how = state::copying, .has_tried = true};
    EXPECT_THAT(the_worry(copying, waits()), testing::StartsWith("yellow "));
    EXPECT_THAT(loss_of(copying, waits()), HasSubstr("cannot be promoted"));
}

TEST(a_primary, says_what_it_alone_has) {
    const ship_report alone{.how = state::following,
                            .has_tried = true,
                            .alone = true,
                            .behind = 5000,
                            .behind_for = milliseconds{1500}};
    EXPECT_THAT(the_worry(alone, goes_on()), HasSubstr("5000 bytes of the log, 1.5 s"));
    EXPECT_EQ(loss_of(alone, goes_on()), "5000 bytes of the log, 1.5 s");
}

TEST(a_primary, minds_a_lag_only_from_the_alarm_on) {
    ship_report seen{
        .how = state::following, .has_tried = true, .behind = 9, .behind_for = milliseconds{9999}};
    EXPECT_TRUE(worries_of(seen, ships_behind()).empty());
    seen.behind_for = seconds{10};
    EXPECT_THAT(the_worry(seen, ships_behind()), HasSubstr("is behind by 9 bytes"));
}

TEST(a_primary, has_a_metric_for_each_of_these) {
    prometheus_text text;
    write_metrics(text, {.how = state::copying, .position = 77, .behind = 42}, 3);
    const auto written = text.take();
    for (const auto* const line :
         {"posthorn_standby_state{state=\"copying\"} 1", "posthorn_standby_state{state=\"away\"} 0",
          "posthorn_standby_alone 0", "posthorn_standby_lag_bytes 42",
          "posthorn_standby_position_bytes 77", "posthorn_standby_epoch 3"})
        EXPECT_THAT(written, HasSubstr(line));
}

TEST(a_standby, is_well_while_its_primary_speaks) {
    follow_report seen{.state = {.phase = standby_phase::following},
                       .has_primary = true,
                       .silent_for = milliseconds{500}};
    EXPECT_TRUE(worries_of(seen).empty());
    seen.silent_for = seconds{60};
    ASSERT_EQ(worries_of(seen).size(), 1U);
    EXPECT_THAT(worries_of(seen).front().what, HasSubstr("for 60 s"));
    EXPECT_EQ(worries_of({}).front().how, health_level::yellow);
}

TEST(a_standby, tells_what_its_promotion_would_lose) {
    pair_state kept{.phase = standby_phase::following};
    EXPECT_EQ(loss_of(kept), "nothing that was answered");
    kept.may_lack = true;
    EXPECT_THAT(loss_of(kept), HasSubstr("answered without it"));
    kept.phase = standby_phase::copying;
    EXPECT_THAT(loss_of(kept), HasSubstr("cannot be promoted"));
    EXPECT_THAT(refuse_promotion({}), HasSubstr("nothing yet"));
    EXPECT_EQ(refuse_promotion({.as = pair_state::role::primary}), "it is a primary already");
}

}  // namespace
}  // namespace posthorn::standby
