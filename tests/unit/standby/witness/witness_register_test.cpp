#include "standby/witness/witness_register.hpp"

#include <gtest/gtest.h>

namespace posthorn::standby {
namespace {

using namespace std::chrono_literals;
using kind = witness_question::kind;
using verdict = witness_verdict;

constexpr stream_id orders{std::byte{1}};
constexpr witness_name one{std::byte{0xa}};
constexpr witness_name two{std::byte{0xb}};
constexpr std::uint64_t run = 77;
constexpr auto lease = 10s;

steady_time at(std::chrono::seconds when) { return steady_time(when); }

class a_witness : public testing::Test {
protected:
    void start(const witness_state& kept) {
        disk_ = kept;
        register_.emplace(
            kept, witness_register::options{
                      .lease = lease, .run = run, .save = [this](const witness_state& state) {
                          disk_ = state;
                          ++saves_;
                          return result<>();
                      }});
    }
    verdict ask(const witness_question& question, steady_time now) {
        const auto told = register_->answer(question, now);
        EXPECT_TRUE(told);
        beat_ = told->beat;
        EXPECT_EQ(register_->state(), disk_);  // What is told is on the disk.
        return told->verdict;
    }
    [[nodiscard]] static witness_question beat(const witness_name& from, std::uint64_t epoch,
                                               std::uint64_t turn, bool in_sync = true) {
        return {.what = kind::beat,
                .stream = orders,
                .from = from,
                .epoch = epoch,
                .in_sync = in_sync,
                .turn = turn,
                .run = run};
    }
    [[nodiscard]] witness_question claim(const witness_name& from, std::uint64_t epoch) const {
        return {.what = kind::claim,
                .stream = orders,
                .from = from,
                .epoch = epoch,
                .beat = beat_,
                .run = run};
    }
    [[nodiscard]] witness_entry entry() const { return disk_.entries.at(0); }

    std::optional<witness_register> register_;
    witness_state disk_;
    std::uint64_t beat_ = 0;
    int saves_ = 0;
};

TEST_F(a_witness, follows_its_table) {
    start({});
    EXPECT_EQ(ask(claim(two, 1), at(20s)), verdict::unknown);
    EXPECT_EQ(ask(beat(one, 1, 5), at(20s)), verdict::granted);
    EXPECT_EQ(ask(beat(one, 1, 5), at(20s)), verdict::old);
    EXPECT_EQ(ask(beat(one, 1, 4), at(20s)), verdict::old);
    EXPECT_EQ(ask(beat(one, 1, 6), at(21s)), verdict::granted);
    EXPECT_EQ(ask(beat(two, 1, 7), at(21s)), verdict::fenced);
    EXPECT_EQ(ask({.what = kind::look, .stream = orders, .from = two}, at(21s)), verdict::told);
    auto late = claim(two, 1);
    EXPECT_EQ(ask(beat(one, 1, 7), at(22s)), verdict::granted);
    EXPECT_EQ(ask(late, at(22s)), verdict::changed);
    EXPECT_EQ(ask(beat(one, 1, 8, false), at(23s)), verdict::granted);
    EXPECT_EQ(ask(claim(two, 1), at(23s)), verdict::not_in_sync);
    EXPECT_EQ(ask(beat(one, 1, 9), at(24s)), verdict::granted);
    EXPECT_EQ(ask(claim(two, 2), at(24s)), verdict::fenced);
    late = claim(two, 1);
    EXPECT_EQ(ask(late, at(24s)), verdict::granted);
    EXPECT_EQ(entry(), (witness_entry{.stream = orders, .epoch = 2, .holder = two}));
    EXPECT_EQ(ask(late, at(25s)), verdict::granted);  // Its answer was lost.
    EXPECT_EQ(ask(beat(one, 1, 10), at(25s)), verdict::fenced);
    EXPECT_EQ(ask(claim(one, 1), at(25s)), verdict::fenced);
    EXPECT_EQ(ask(beat(two, 2, 1), at(25s)), verdict::granted);
}

TEST_F(a_witness, listens_for_a_lease_and_a_tenth_after_its_start) {
    start({.version = 9, .entries = {{orders, 1, one, true}}});
    EXPECT_EQ(ask(beat(one, 1, 1), at(1s)), verdict::early);
    EXPECT_EQ(ask(claim(two, 1), at(10s)), verdict::early);
    EXPECT_EQ(ask({.stream = orders}, at(10s)), verdict::told);
    EXPECT_EQ(saves_, 0);
    EXPECT_EQ(ask(beat(one, 1, 2), at(11s)), verdict::granted);
}

TEST_F(a_witness, that_missed_a_promotion_learns_of_it_while_it_listens) {
    start({.version = 9, .entries = {{orders, 1, one, true}}});
    auto told = beat(two, 2, 1);
    told.run = 3;  // Of an earlier run.
    EXPECT_EQ(ask(told, at(1s)), verdict::early);
    EXPECT_EQ(entry(), (witness_entry{.stream = orders, .epoch = 2, .holder = two}));
    EXPECT_EQ(ask(beat(one, 1, 1), at(12s)), verdict::fenced);
}

TEST_F(a_witness, takes_a_promotion_by_hand_down_and_waits_until_the_old_primary_has_stopped) {
    start({});
    EXPECT_EQ(ask(beat(one, 1, 5), at(20s)), verdict::granted);
    EXPECT_EQ(ask(beat(two, 2, 1), at(21s)), verdict::early);
    EXPECT_EQ(entry().epoch, 2U);
    EXPECT_EQ(ask(beat(one, 1, 6), at(22s)), verdict::fenced);
    EXPECT_EQ(ask(beat(two, 2, 2), at(30s)), verdict::early);
    EXPECT_EQ(ask(beat(two, 2, 3), at(31s)), verdict::granted);
    // No other has to stop where the same node goes on with a newer epoch.
    EXPECT_EQ(ask(beat(two, 3, 4), at(31s)), verdict::granted);
}

TEST_F(a_witness, that_is_older_than_what_it_once_said_grants_nothing_any_more) {
    start({.version = 9, .entries = {{orders, 1, one, true}}});
    auto who_knows = beat(two, 2, 1);
    who_knows.version = 10;
    EXPECT_EQ(ask(who_knows, at(20s)), verdict::stale);
    EXPECT_TRUE(disk_.is_stale);
    EXPECT_EQ(ask(beat(one, 1, 1), at(30s)), verdict::stale);
    start(disk_);
    EXPECT_EQ(ask(beat(one, 1, 1), at(30s)), verdict::stale);
    EXPECT_EQ(ask(claim(two, 1), at(30s)), verdict::stale);
}

TEST_F(a_witness, refuses_what_was_meant_for_an_earlier_run) {
    start({.entries = {{orders, 1, one, true}}});
    auto question = beat(one, 1, 1, false);
    question.run = run - 1;
    EXPECT_EQ(ask(question, at(20s)), verdict::another_run);
    question = claim(two, 1);
    question.run = run - 1;
    EXPECT_EQ(ask(question, at(20s)), verdict::another_run);
    EXPECT_EQ(saves_, 0);
}

TEST_F(a_witness, grants_nothing_that_is_not_on_its_disk) {
    witness_register broken({.entries = {{orders, 1, one, true}}},
                            {.lease = lease, .run = run, .save = [](const witness_state&) {
                                 return result<>(fail(error_code::store_full, "no room"));
                             }});
    EXPECT_FALSE(broken.answer(claim(two, 1), at(20s)));
    EXPECT_EQ(broken.state().entries.at(0).epoch, 1U);
    // A beat that changes nothing needs no disk.
    const auto told = broken.answer(beat(one, 1, 1), at(20s));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->verdict, verdict::granted);
}

/// The table of the header, over again, in another form.
verdict expected(const witness_question& asked, const std::optional<witness_entry>& entry,
                 std::uint64_t beat, std::uint64_t version, bool is_early) {
    if (asked.version > version) return verdict::stale;
    if (asked.what == kind::look) return verdict::told;
    if (is_early) return verdict::early;
    if (asked.run != run) return verdict::another_run;
    if (asked.what == kind::beat) {
        if (!entry) return verdict::granted;
        if (asked.epoch > entry->epoch)
            return beat != 0 && asked.from != entry->holder ? verdict::early : verdict::granted;
        if (asked.epoch < entry->epoch || asked.from != entry->holder) return verdict::fenced;
        return asked.turn > 5 ? verdict::granted : verdict::old;
    }
    if (!entry) return verdict::unknown;
    if (entry->epoch == asked.epoch + 1 && entry->holder == asked.from) return verdict::granted;
    if (entry->epoch != asked.epoch) return verdict::fenced;
    if (asked.beat != beat) return verdict::changed;
    return entry->in_sync ? verdict::granted : verdict::not_in_sync;
}

TEST_F(a_witness, answers_every_question_in_every_state_by_its_table) {
    int cases = 0;
    for (int bits = 0; bits < 1 << 12; ++bits) {
        const auto bit = [&](int which) { return (bits >> which & 1) != 0; };
        for (const auto what : {kind::look, kind::beat, kind::claim}) {
            std::optional<witness_entry> entry;
            if (bit(0)) entry = witness_entry{orders, bit(1) ? 2U : 3U, bit(2) ? one : two, bit(3)};
            start({.version = 4, .entries = {}});
            if (entry) {
                ASSERT_EQ(ask(beat(entry->holder, entry->epoch, 5, entry->in_sync), at(20s)),
                          verdict::granted);
            }
            const auto seen = entry ? beat_ : 0;
            const witness_question asked{.what = what,
                                         .stream = orders,
                                         .from = bit(4) ? one : two,
                                         .epoch = 1U + (bit(5) ? 1 : 0) + (bit(6) ? 2 : 0),
                                         .in_sync = bit(7),
                                         .beat = bit(8) ? seen : seen + 1,
                                         .turn = bit(9) ? 6U : 5U,
                                         .run = bit(10) ? run : run + 1,
                                         .version = bit(11) ? 0 : disk_.version + 1};
            const auto before = disk_;
            const auto wanted = expected(asked, entry, seen, before.version, false);
            ASSERT_EQ(ask(asked, at(20s)), wanted) << bits << to_string(wanted);
            // Only what was granted, and a newer epoch, is taken down.
            if (wanted == verdict::granted || wanted == verdict::early || wanted == verdict::stale)
                continue;
            ASSERT_EQ(disk_, before) << bits;
            ++cases;
        }
    }
    EXPECT_GT(cases, 4'000);
}

}  // namespace
}  // namespace posthorn::standby
