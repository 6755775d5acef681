// How a lane works off what has waited while its destination was out, counted in virtual time.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "unit/outbox/rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::rig;

constexpr double rate = 20;

class replay_lane : public testing::Test {
protected:
    replay_lane() {
        node.options.lane.batch_rows = 1;
        node.options.lane.window_rows = 100;  // So that most of a backlog is in the table alone.
    }

    void start(replay_options how = {.settle_time = 5s, .rate = rate, .ramp = 60s}) {
        node.limits_of["plant"] = {.window = 8, .batch = 1, .replay = how};
        plant.delay = 1ms;
        node.start();
    }
    void send(int messages) {
        for (int i = 0; i < messages; ++i) node.store.send(node.to("plant"));
    }
    /// It is silent, and `messages` come meanwhile.
    void go_out(int messages) {
        plant.answer = [](const message&) {
            return delivery{.what = outcome::unanswered, .error = "not there"};
        };
        send(messages);
        loop.run_for(10s);
        ASSERT_EQ(state().replay, replay_phase::outage);
    }
    void come_back() {
        plant.always(outcome::delivered, "");
        node.get().try_now("plant");
    }
    lane_state state() {
        for (const auto& one : node.get().counters().board.list())
            if (one.destination == "plant") return one;
        return {};
    }
    /// Until it is in this phase.
    void run_until(replay_phase phase, std::chrono::milliseconds limit = 1h) {
        for (auto left = limit; state().replay != phase && left > 0ms; left -= 100ms)
            loop.run_for(100ms);
        ASSERT_EQ(state().replay, phase);
    }
    bool was_sent(const uuid& id) {
        return std::ranges::find(plant.sends, id) != plant.sends.end();
    }
    std::size_t sent_in(std::chrono::milliseconds time) {
        const auto before = plant.sends.size();
        loop.run_for(time);
        return plant.sends.size() - before;
    }

    virtual_loop loop;
    rig node{loop};
    test::fake_wire& plant = node.wire("plant");
};

TEST_F(replay_lane, sends_within_five_percent_of_its_rate_in_every_second) {
    start({.settle_time = 5s, .rate = rate, .ramp = 0s});
    go_out(700);
    come_back();
    run_until(replay_phase::replaying);
    loop.run_for(1s);
    for (int second = 0; second < 25; ++second) {
        const auto sent = static_cast<double>(sent_in(1s));
        EXPECT_GE(sent, rate * 0.95) << "second " << second;
        EXPECT_LE(sent, rate * 1.05) << "second " << second;
    }
}

TEST_F(replay_lane, follows_its_ramp_from_a_tenth_to_all_in_every_second) {
    start({.settle_time = 5s, .rate = rate, .ramp = 20s});
    go_out(500);
    come_back();
    run_until(replay_phase::settling);
    EXPECT_LE(sent_in(4s), 4 * rate / 10 * 1.05 + 2);
    run_until(replay_phase::replaying);
    for (int second = 0; second < 22; ++second) {
        const auto from = state().replay_rate;
        const auto sent = static_cast<double>(sent_in(1s));
        const auto to = std::min(from + 0.9 * rate / 20 * 2, rate);  // The board is a second old.
        EXPECT_GE(sent, from * 0.95 - 1) << "second " << second;
        EXPECT_LE(sent, to * 1.05 + 1) << "second " << second;
    }
    EXPECT_DOUBLE_EQ(state().replay_rate, rate);
}

TEST_F(replay_lane, sends_what_is_newer_at_once_beside_the_backlog) {
    start({.settle_time = 5s, .rate = 2, .ramp = 0s});
    go_out(300);
    come_back();
    run_until(replay_phase::replaying);
    loop.run_for(2s);
    for (int i = 0; i < 50; ++i) {
        const auto newer = node.to("plant");
        node.store.send(newer);
        loop.run_for(10ms);
        EXPECT_TRUE(was_sent(newer.id)) << i;
    }
}

TEST_F(replay_lane, finds_what_another_program_wrote_though_much_is_older) {
    start({.settle_time = 5s, .rate = 2, .ramp = 0s});
    go_out(500);
    come_back();
    run_until(replay_phase::replaying);
    const auto newer = node.to("plant");
    node.store.write_foreign(newer);
    loop.run_for(3s);
    EXPECT_TRUE(was_sent(newer.id));
}

TEST_F(replay_lane, brings_everything_once_and_is_live_again) {
    for (const bool newest : {false, true}) {
        rig other(loop);
        other.options.lane.window_rows = 100;
        auto& wire = other.wire("plant");
        other.limits_of["plant"] = {
            .window = 8,
            .batch = 1,
            .replay =
                replay_options{.settle_time = 1s, .rate = 50, .ramp = 5s, .newest_first = newest}};
        other.start();
        wire.always(outcome::unanswered);
        for (int i = 0; i < 300; ++i) other.store.send(other.to("plant"));
        loop.run_for(5s);
        wire.sends.clear();
        wire.always(outcome::delivered, "");
        loop.run_for(1min);
        EXPECT_EQ(other.count(outbox_status::sent), 300U);
        EXPECT_EQ(std::set(wire.sends.begin(), wire.sends.end()).size(), wire.sends.size());
        for (const auto& one : other.get().counters().board.list())
            EXPECT_EQ(one.replay, replay_phase::live);
    }
}

TEST_F(replay_lane, takes_the_oldest_first_or_the_newest) {
    for (const bool newest : {false, true}) {
        rig other(loop);
        other.options.lane.window_rows = 100;
        auto& wire = other.wire("plant");
        other.limits_of["plant"] = {
            .window = 8,
            .batch = 1,
            .replay =
                replay_options{.settle_time = 1s, .rate = 5, .ramp = 0s, .newest_first = newest}};
        other.start();
        wire.always(outcome::unanswered);
        std::vector<uuid> ids;
        for (int i = 0; i < 400; ++i) {
            auto one = other.to("plant");
            ids.push_back(one.id);
            other.store.send(std::move(one));
        }
        loop.run_for(5s);
        wire.always(outcome::delivered, "");
        loop.run_for(25s);
        wire.sends.clear();
        loop.run_for(2s);
        ASSERT_FALSE(wire.sends.empty());
        for (const auto& id : wire.sends) {
            const auto place = std::ranges::find(ids, id) - ids.begin();
            EXPECT_EQ(place >= 200, newest) << place;
        }
    }
}

TEST_F(replay_lane, is_halved_by_throttling_and_out_again_after_silence) {
    start({.settle_time = 5s, .rate = 10, .ramp = 100s});
    go_out(400);
    come_back();
    run_until(replay_phase::replaying);
    loop.run_for(50s);
    const auto before = state().replay_rate;
    plant.answer = [asked = false](const message&) mutable {
        if (std::exchange(asked, true)) return delivery{.what = outcome::delivered};
        return delivery{.what = outcome::throttled,
                        .error = "slowly",
                        .retry_after = 1s,
                        .code = error_code::overloaded};
    };
    loop.run_for(3s);
    EXPECT_NEAR(state().replay_rate, before / 2, 0.5);
    plant.always(outcome::unanswered);
    loop.run_for(20s);
    EXPECT_EQ(state().replay, replay_phase::outage);
}

TEST_F(replay_lane, does_not_flood_a_line_that_flaps_at_the_end_of_an_outage) {
    start({.settle_time = 5s, .rate = rate, .ramp = 0s});
    go_out(400);
    loop.run_for(10min);
    // It is back for less than it has to answer, again and again.
    for (int flap = 0; flap < 5; ++flap) {
        plant.sends.clear();
        come_back();
        loop.run_for(3s);
        EXPECT_LE(plant.sends.size(), 3 * rate / 10 + 3) << "flap " << flap;
        EXPECT_NE(state().replay, replay_phase::replaying) << "flap " << flap;
        plant.always(outcome::unanswered);
        send(6);
        loop.run_for(30s);
        ASSERT_EQ(state().replay, replay_phase::outage) << "flap " << flap;
    }
    EXPECT_EQ(node.count(outbox_status::dead), 0U);
    const auto waits = node.count(outbox_status::pending);
    EXPECT_GT(waits, 300U);
    plant.sends.clear();
    come_back();
    run_until(replay_phase::replaying);
    loop.run_for(1s);
    for (int second = 0; second < 10; ++second) {
        const auto sent = static_cast<double>(sent_in(1s));
        EXPECT_GE(sent, rate * 0.95) << "second " << second;
        EXPECT_LE(sent, rate * 1.05) << "second " << second;
    }
    run_until(replay_phase::live);
    EXPECT_EQ(node.count(outbox_status::pending), 0U);
    EXPECT_EQ(std::set(plant.sends.begin(), plant.sends.end()).size(), waits) << "each once";
    EXPECT_EQ(plant.sends.size(), waits);
}

TEST_F(replay_lane, has_no_backlog_unless_it_was_out) {
    start();
    send(200);
    loop.run_for(2s);
    EXPECT_EQ(node.count(outbox_status::sent), 200U);
    EXPECT_EQ(state().replay, replay_phase::live);
}

}  // namespace
}  // namespace posthorn
