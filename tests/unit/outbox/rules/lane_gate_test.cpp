#include "outbox/rules/lane_gate.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using permit = breaker::permit;

constexpr steady_time now{1000s};

void open(lane_gate& gate) {
    for (int i = 0; i < 5; ++i) gate.breaker.note(false, false, now, 0);
}

struct gate_case {
    std::string claim;
    std::function<void(lane_gate&)> made;
    std::chrono::milliseconds later;
    lane_mode mode;
    permit takes;
    permit sends;
    std::optional<steady_time> changes_at;
};

const std::vector<gate_case> cases{
    {"a new one runs", [](lane_gate&) {}, 0ms, lane_mode::running, permit::all, permit::all, {}},
    {"a paused one does nothing, for ever",
     [](lane_gate& gate) { gate.pause(true); },
     999h,
     lane_mode::paused,
     permit::none,
     permit::none,
     {}},
    {"a pause counts more than a rest and an open breaker",
     [](lane_gate& gate) {
         open(gate);
         gate.rest_until(now + 5s);
         gate.pause(true);
     },
     0ms,
     lane_mode::paused,
     permit::none,
     permit::none,
     {}},
    {"one that was asked for patience waits", [](lane_gate& gate) { gate.rest_until(now + 5s); },
     4999ms, lane_mode::throttled, permit::none, permit::none, now + 5s},
    {"and then runs",
     [](lane_gate& gate) { gate.rest_until(now + 5s); },
     5s,
     lane_mode::running,
     permit::all,
     permit::all,
     {}},
    {"a shorter rest does not end a longer one",
     [](lane_gate& gate) {
         gate.rest_until(now + 5s);
         gate.rest_until(now + 1s);
     },
     2s, lane_mode::throttled, permit::none, permit::none, now + 5s},
    {"an open one waits", open, 999ms, lane_mode::open, permit::none, permit::none, now + 1s},
    {"and then takes and sends one", open, 1s, lane_mode::open, permit::one, permit::one, {}},
    {"while that is out it waits",
     [](lane_gate& gate) {
         open(gate);
         gate.breaker.begin_probe();
     },
     1h,
     lane_mode::probing,
     permit::none,
     permit::none,
     {}},
    {"without a route it takes nothing in but tells of what it has",
     [](lane_gate& gate) { gate.look_for_route_at(now + 30s); }, 29s, lane_mode::no_route,
     permit::none, permit::all, now + 30s},
    {"a route is looked for in its time",
     [](lane_gate& gate) { gate.look_for_route_at(now + 30s); },
     30s,
     lane_mode::running,
     permit::all,
     permit::all,
     {}},
    {"or when there may be a new one",
     [](lane_gate& gate) {
         gate.look_for_route_at(now + 30s);
         gate.look_for_route();
     },
     0ms,
     lane_mode::running,
     permit::all,
     permit::all,
     {}},
    {"an open one whose route was taken away does not turn the table over",
     [](lane_gate& gate) {
         open(gate);
         gate.look_for_route_at(now + 30s);
     },
     5s, lane_mode::no_route, permit::none, permit::one, now + 30s},
};

TEST(lane_gate, does_what_its_table_says) {
    for (const auto& one : cases) {
        lane_gate gate({}, false);
        one.made(gate);
        const auto asked = now + one.later;
        EXPECT_EQ(gate.mode(asked), one.mode) << one.claim;
        EXPECT_EQ(gate.may_take(asked), one.takes) << one.claim;
        EXPECT_EQ(gate.may_send(asked), one.sends) << one.claim;
        EXPECT_EQ(gate.changes_at(asked), one.changes_at) << one.claim;
    }
}

}  // namespace
}  // namespace posthorn
