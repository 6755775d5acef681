#include "outbox/rules/breaker.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using state = breaker::state;
using permit = breaker::permit;

constexpr steady_time start{1000s};
constexpr breaker_options options{.silences_max = 3, .open_min = 1s, .open_max = 4s, .jitter = 0.5};

/// What happens, some time after the start.
struct event {
    enum class kind : std::uint8_t {
        answer,
        silence,
        probe,
        probe_answer,
        probe_silence,
        drop,
        ask
    };
    kind what;
    std::chrono::milliseconds at;
    double unit = 0;
};
using kind = event::kind;

struct breaker_case {
    std::string claim;
    std::vector<event> events;
    state becomes;
    /// What it allows some time after the start.
    std::chrono::milliseconds asked_at;
    permit allows;
};

const std::vector<breaker_case> cases{
    {"a new one lets all through", {}, state::closed, 0ms, permit::all},
    {"fewer silences than allowed leave it closed",
     {{kind::silence, 0ms}, {kind::silence, 1ms}},
     state::closed,
     2ms,
     permit::all},
    {"an answer counts from zero again",
     {{kind::silence, 0ms},
      {kind::silence, 1ms},
      {kind::answer, 2ms},
      {kind::silence, 3ms},
      {kind::silence, 4ms}},
     state::closed,
     5ms,
     permit::all},
    {"the last allowed silence opens it",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}},
     state::open,
     999ms,
     permit::none},
    {"after its time one may go",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}},
     state::open,
     1000ms,
     permit::one},
    {"chance shortens its time by half at most",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms, 0.99}},
     state::open,
     505ms,
     permit::one},
    {"but not by more",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms, 0.99}},
     state::open,
     500ms,
     permit::none},
    {"while the probe is out nothing else goes",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}, {kind::probe, 1000ms}},
     state::probing,
     9s,
     permit::none},
    {"a silent probe opens it for twice as long",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1000ms},
      {kind::probe_silence, 1100ms}},
     state::open,
     3099ms,
     permit::none},
    {"and then one may go again",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1000ms},
      {kind::probe_silence, 1100ms}},
     state::open,
     3100ms,
     permit::one},
    {"its time does not grow past the longest",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::probe_silence, 1s},
      {kind::probe, 3s},
      {kind::probe_silence, 3s},
      {kind::probe, 7s},
      {kind::probe_silence, 7s}},
     state::open,
     11s,
     permit::one},
    {"an answered probe closes it",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::probe_answer, 1s}},
     state::closed,
     1s,
     permit::all},
    {"and it counts from zero then",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::probe_answer, 1s},
      {kind::silence, 1s},
      {kind::silence, 1s}},
     state::closed,
     1s,
     permit::all},
    {"and its time begins with the shortest again",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::probe_silence, 1s},
      {kind::probe, 3s},
      {kind::probe_answer, 3s},
      {kind::silence, 4s},
      {kind::silence, 4s},
      {kind::silence, 4s}},
     state::open,
     5s,
     permit::one},
    {"silence of a batch sent before it opened changes nothing",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 900ms}},
     state::open,
     1000ms,
     permit::one},
    {"nor while the probe is out",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::silence, 1100ms}},
     state::probing,
     2s,
     permit::none},
    {"an answer to a batch sent before it opened closes it",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}, {kind::answer, 10ms}},
     state::closed,
     10ms,
     permit::all},
    {"a probe that was given up may be repeated at once",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::drop, 1s}},
     state::open,
     1s,
     permit::one},
    {"who asks for it may probe at once",
     {{kind::silence, 0ms}, {kind::silence, 0ms}, {kind::silence, 0ms}, {kind::ask, 10ms}},
     state::open,
     10ms,
     permit::one},
    {"who asks while a probe is out waits for the shortest time after it",
     {{kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::silence, 0ms},
      {kind::probe, 1s},
      {kind::probe_silence, 1s},
      {kind::probe, 3s},
      {kind::ask, 3s},
      {kind::probe_silence, 4s}},
     state::open,
     5s,
     permit::one},
    {"asking for a probe means nothing while it is closed",
     {{kind::silence, 0ms}, {kind::ask, 1ms}},
     state::closed,
     1ms,
     permit::all},
};

void tell(breaker& of, const event& what) {
    const auto now = start + what.at;
    switch (what.what) {
        case kind::answer: return of.note(true, false, now, what.unit);
        case kind::silence: return of.note(false, false, now, what.unit);
        case kind::probe: return of.begin_probe();
        case kind::probe_answer: return of.note(true, true, now, what.unit);
        case kind::probe_silence: return of.note(false, true, now, what.unit);
        case kind::drop: return of.drop_probe();
        case kind::ask: return of.probe_now(now);
    }
}

TEST(breaker, does_what_its_table_says) {
    for (const auto& one : cases) {
        breaker tested(options);
        for (const auto& what : one.events) tell(tested, what);
        EXPECT_EQ(tested.current(), one.becomes) << one.claim;
        EXPECT_EQ(tested.permits(start + one.asked_at), one.allows) << one.claim;
    }
}

TEST(breaker, opens_after_five_silences_for_a_second_and_for_a_minute_at_most) {
    breaker tested;
    auto now = start;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(tested.current(), state::closed);
        tested.note(false, false, now, 0);
    }
    std::vector<std::chrono::nanoseconds> pauses;
    for (int i = 0; i < 9; ++i) {
        ASSERT_EQ(tested.current(), state::open);
        pauses.push_back(tested.probe_at() - now);
        now = tested.probe_at();
        tested.begin_probe();
        tested.note(false, true, now, 0);
    }
    EXPECT_EQ(pauses,
              (std::vector<std::chrono::nanoseconds>{1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}));
}

TEST(breaker, that_is_open_looks_no_later_than_new_options_let_it) {
    breaker tested;
    for (int i = 0; i < 5; ++i) tested.note(false, false, start, 0);
    auto now = start;
    for (int i = 0; i < 9; ++i) {
        now = tested.probe_at();
        tested.begin_probe();
        tested.note(false, true, now, 0);
    }
    ASSERT_EQ(tested.probe_at() - now, 60s);
    now += 1s;
    tested.change({.open_max = 2s}, now);
    EXPECT_EQ(tested.current(), state::open);
    EXPECT_EQ(tested.probe_at() - now, 2s);
    now = tested.probe_at();
    tested.begin_probe();
    tested.note(false, true, now, 0);
    EXPECT_EQ(tested.probe_at() - now, 2s);
    tested.change({}, now);
    EXPECT_EQ(tested.probe_at() - now, 2s) << "longer pauses begin with the next";
}

}  // namespace
}  // namespace posthorn
