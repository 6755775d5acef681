#include "measure/load.hpp"

#include <array>
#include <atomic>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "measure/pace.hpp"
#include "measure/report.hpp"

namespace posthorn::measure {
namespace {

constexpr std::int64_t millisecond_ns = 1'000'000;

/// Takes effect at once, but for one message that holds its sender up.
class fake_sender : public sender {
public:
    explicit fake_sender(board& shared) : shared_(shared) {}

    void send(std::uint64_t index) override {
        if (std::exchange(is_slow_, false)) sleep_until(now_ns() + 60 * millisecond_ns);
        const std::array one{index};
        shared_.effect(one);
        if (index == doubled_index) shared_.effect(one);
        ++used_.syncs;
    }
    void post(std::uint64_t index, std::function<void()> done) override {
        queue.emplace_back(index, std::move(done));
        if (is_working) return;
        is_working = true;
        for (; !queue.empty(); queue.erase(queue.begin())) {
            const auto [at, next] = queue.front();
            send(at);
            next();
        }
        is_working = false;
    }
    usage used() override {
        is_slow_ = std::exchange(stalls, false);  // The warm-up is over when it is asked.
        auto now = used_;
        now.cpu_ns = now.syncs * 2000;
        return now;
    }

    static constexpr auto nobody = ~std::uint64_t{0};
    bool stalls = false;  // In the first message that is measured.
    std::uint64_t doubled_index = nobody;

private:
    board& shared_;
    usage used_{.syncs = 0};
    bool is_slow_ = false;
    bool is_working = false;
    std::vector<std::pair<std::uint64_t, std::function<void()>>> queue;
};

load short_load(load_mode mode) {
    return {.mode = mode, .senders = 1, .seconds = 0.1, .warm_up_seconds = 0.01, .rate = 1000};
}

TEST(bench_load, counts_a_stall_for_every_message_that_was_due_meanwhile) {
    board shared;
    fake_sender from(shared);
    from.stalls = true;
    const auto seen = run_load(short_load(load_mode::rate), from, shared);
    EXPECT_EQ(seen.messages, 100U);
    // Sixty of the hundred were due during the stall; the median one for ten milliseconds of it.
    EXPECT_GE(seen.to_effect.p50_us, 8'000);
    EXPECT_GE(seen.to_effect.p999_us, 59'000);
}

TEST(bench_load, one_at_a_time_waits_for_each_effect) {
    board shared;
    fake_sender from(shared);
    const auto seen = run_load(short_load(load_mode::serial), from, shared);
    EXPECT_GT(seen.messages, 0U);
    EXPECT_EQ(shared.effects(), seen.all_messages);
    EXPECT_GT(seen.per_second, 0);
}

TEST(bench_load, senders_that_are_called_back_go_on_until_the_time_is_over) {
    board shared;
    fake_sender from(shared);
    auto what = short_load(load_mode::concurrent);
    what.chained = true;
    const auto seen = run_load(what, from, shared);
    EXPECT_GT(seen.messages, 1U);
    EXPECT_EQ(shared.effects(), seen.all_messages);
}

TEST(bench_load, tells_what_a_message_costs) {
    board shared;
    fake_sender from(shared);
    const auto seen = run_load(short_load(load_mode::rate), from, shared);
    EXPECT_DOUBLE_EQ(seen.syncs, 1);
    EXPECT_DOUBLE_EQ(seen.cpu_us, 2);
}

TEST(bench_load, refuses_numbers_of_a_run_in_which_a_message_took_effect_twice) {
    board shared;
    fake_sender from(shared);
    from.doubled_index = 20;
    EXPECT_THROW(static_cast<void>(run_load(short_load(load_mode::rate), from, shared)),
                 std::runtime_error);
}

TEST(bench_load, ends_when_whoever_is_told_throws) {
    board shared;
    fake_sender from(shared);
    auto what = short_load(load_mode::rate);
    what.seconds = 3600;
    EXPECT_THROW(static_cast<void>(run_load(what, from, shared,
                                            [](double) { throw std::runtime_error("enough"); })),
                 std::runtime_error);
}

TEST(bench_load, what_another_opens_by_its_path_is_the_same_board) {
    board shared;
    board other(shared.path());
    shared.begin(5, 7);
    const std::array<std::uint64_t, 1> one{5};
    other.effect(one);
    other.set_state(board::receiver_state::ready, "here");
    EXPECT_EQ(shared.effects(), 1U);
    EXPECT_EQ(shared.of(5).due_ns, 7);
    EXPECT_GT(shared.of(5).effect_ns, 0);
    EXPECT_EQ(shared.text(), "here");
    EXPECT_TRUE(shared.wait_ready(0));
}

}  // namespace
}  // namespace posthorn::measure
