#include "lease/dispatch_lease.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using event_kind = lease_event::kind;
using state_kind = lease_state::kind;

const lease_terms terms{.owner = "me", .duration = 10s};
constexpr steady_time start{std::chrono::hours{1}};
const lease theirs{.owner = "them", .epoch = 4, .beat = 17};
const lease theirs_later{.owner = "them", .epoch = 4, .beat = 18};
const lease mine{.owner = "me", .epoch = 5, .beat = 0};

const lease_state fresh{};
const lease_state watching{.what = state_kind::standby, .seen = theirs, .since = start};
const lease_state taking{.what = state_kind::taking, .seen = theirs, .since = start};
const lease_state holder{.what = state_kind::holder, .since = start, .epoch = 5};

struct lease_case {
    const char* claim;
    lease_state state;
    lease_event event;
    lease_step expected;
};

lease_event looked(std::optional<lease> now, steady_time at, bool gone = false) {
    return {.what = event_kind::looked, .at = at, .now = std::move(now), .owner_is_gone = gone};
}
lease_event plain(event_kind what, steady_time at) { return {.what = what, .at = at}; }

const lease_case cases[] = {
    {"takes a lease that nobody has",
     fresh,
     looked(std::nullopt, start),
     {{.what = state_kind::taking, .since = start}, lease_action::take}},
    {"starts to watch a holder",
     fresh,
     looked(theirs, start),
     {watching, lease_action::look_later}},
    {"takes at once from an owner that is gone",
     fresh,
     looked(theirs, start, true),
     {taking, lease_action::take}},
    {"takes at once what an earlier try of its own left",
     fresh,
     looked(mine, start),
     {{.what = state_kind::taking, .seen = mine, .since = start}, lease_action::take}},
    {"waits while the beat stands for less than the lease",
     watching,
     looked(theirs, start + 9999ms),
     {watching, lease_action::look_later}},
    {"takes over when the beat stood still for the lease",
     watching,
     looked(theirs, start + 10s),
     {taking, lease_action::take}},
    {"a beat starts the waiting again",
     watching,
     looked(theirs_later, start + 10s),
     {{.what = state_kind::standby, .seen = theirs_later, .since = start + 10s},
      lease_action::look_later}},
    {"takes a lease that was given back",
     watching,
     looked(std::nullopt, start + 1s),
     {{.what = state_kind::taking, .since = start + 1s}, lease_action::take}},
    {"a failed look changes nothing",
     watching,
     plain(event_kind::failed, start + 20s),
     {watching, lease_action::look_later}},
    {"took: it holds the new epoch from when it began to take",
     taking,
     {.what = event_kind::took, .at = start + 10s, .now = mine},
     {{.what = state_kind::holder, .since = start + 10s, .epoch = 5}, lease_action::begin}},
    {"somebody was quicker: goes on watching",
     taking,
     plain(event_kind::refused, start + 10s),
     {watching, lease_action::look_later}},
    {"a failed take goes on watching",
     taking,
     plain(event_kind::failed, start + 10s),
     {watching, lease_action::look_later}},
    {"a beat renews from when it was begun",
     holder,
     plain(event_kind::beaten, start + 3s),
     {{.what = state_kind::holder, .since = start + 3s, .epoch = 5}, lease_action::beat_later}},
    {"a failed beat is tried again while the lease is young",
     holder,
     plain(event_kind::failed, start + 9999ms),
     {holder, lease_action::beat_soon}},
    {"a failed beat stands down when the lease ran out",
     holder,
     plain(event_kind::failed, start + 10s),
     {fresh, lease_action::stand_down}},
    {"silence of the store stands down when the lease ran out",
     holder,
     plain(event_kind::time_passed, start + 10s),
     {fresh, lease_action::stand_down}},
    {"refused stands down",
     holder,
     plain(event_kind::refused, start + 1s),
     {fresh, lease_action::stand_down}},
};

TEST(dispatch_lease, steps_as_the_table_says) {
    for (const auto& one : cases)
        EXPECT_EQ(step(one.state, one.event, terms), one.expected) << one.claim;
}

}  // namespace
}  // namespace posthorn
