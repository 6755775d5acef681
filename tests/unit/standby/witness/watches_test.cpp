#include <functional>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "standby/witness/standby_watch.hpp"
#include "standby/witness/witness_state.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::standby {
namespace {

using namespace std::chrono_literals;
using kind = witness_question::kind;
using verdict = witness_verdict;

constexpr stream_id orders{std::byte{1}};
constexpr witness_name one{std::byte{0xa}};
constexpr witness_name two{std::byte{0xb}};
constexpr witness_name witness{std::byte{0xc}};
constexpr witness_timing timing{.lease = 10s, .every = 1s};

steady_time at(std::chrono::nanoseconds when) { return steady_time(when); }

witness_answer answer(verdict said, bool in_sync = true, std::uint64_t beat = 1,
                      std::uint64_t epoch = 1) {
    return {.verdict = said,
            .entry = {orders, epoch, one, in_sync},
            .beat = beat,
            .run = 7,
            .version = 3,
            .witness = witness};
}

class a_primary_watch : public testing::Test {
protected:
    /// Asks and is answered at once.
    void ask(steady_time now, verdict said = verdict::granted) {
        const auto asked = watch_.next_question(now);
        ASSERT_TRUE(asked);
        watch_.witness_answered(
            *asked, answer(asked->what == kind::look ? verdict::told : said, asked->in_sync), now);
    }

    primary_watch watch_{{.stream = orders, .node = one, .epoch = 1, .starts = 2}, timing, true};
};

TEST_F(a_primary_watch, answers_as_long_as_its_standby_does) {
    EXPECT_EQ(watch_.may(at(0s)), primary_may::wait);
    watch_.standby_answered(at(5s));
    EXPECT_EQ(watch_.may(at(14'999ms)), primary_may::with_standby);
    EXPECT_EQ(watch_.may(at(15s)), primary_may::wait);
    watch_.standby_answered(at(4s));  // A late one says nothing new.
    EXPECT_EQ(watch_.may(at(15s)), primary_may::wait);
}

TEST_F(a_primary_watch, goes_alone_only_once_the_witness_holds_that_it_is_not_in_sync) {
    watch_.standby_has_all(true);
    ask(at(1s));
    ask(at(2s));
    EXPECT_EQ(watch_.may(at(2s)), primary_may::wait);
    watch_.standby_has_all(false);
    const auto asked = watch_.next_question(at(3s));
    ASSERT_TRUE(asked);
    EXPECT_FALSE(asked->in_sync);
    EXPECT_EQ(watch_.may(at(3s)), primary_may::wait);
    watch_.witness_answered(*asked, answer(verdict::granted, false), at(3s));
    EXPECT_EQ(watch_.may(at(12'999ms)), primary_may::alone);
    EXPECT_EQ(watch_.may(at(13s)), primary_may::wait);
}

TEST_F(a_primary_watch, is_not_alone_any_more_when_it_has_said_that_it_is_in_sync) {
    ask(at(1s));
    ask(at(2s));
    EXPECT_EQ(watch_.may(at(2s)), primary_may::alone);
    watch_.standby_has_all(true);
    const auto lost = watch_.next_question(at(3s));  // It may arrive, or not.
    EXPECT_TRUE(lost->in_sync);
    EXPECT_EQ(watch_.may(at(3s)), primary_may::wait);
    watch_.standby_has_all(false);
    ask(at(4s));
    EXPECT_EQ(watch_.may(at(4s)), primary_may::alone);
}

TEST_F(a_primary_watch, does_not_believe_an_answer_to_a_question_before_it_was_in_sync) {
    ask(at(1s));
    const auto early = watch_.next_question(at(2s));
    watch_.standby_has_all(true);
    const auto later = watch_.next_question(at(3s));
    watch_.witness_answered(*later, answer(verdict::granted, true), at(3s));
    watch_.witness_answered(*early, answer(verdict::granted, false), at(2s));
    EXPECT_EQ(watch_.may(at(4s)), primary_may::wait);
}

TEST_F(a_primary_watch, stops_for_good_once_another_is_the_primary) {
    watch_.standby_answered(at(1s));
    ask(at(1s));
    ask(at(2s), verdict::fenced);
    EXPECT_EQ(watch_.may(at(2s)), primary_may::stop);
    EXPECT_FALSE(watch_.next_question(at(9s)));
    primary_watch other({.stream = orders, .node = one, .epoch = 1}, timing, true);
    other.standby_refuses();
    EXPECT_EQ(other.may(at(0s)), primary_may::stop);
    primary_watch third({.stream = orders, .node = one, .epoch = 1}, timing, true);
    third.witness_answered(*third.next_question(at(0s)), answer(verdict::told, true, 1, 2), at(0s));
    EXPECT_EQ(third.may(at(0s)), primary_may::stop);
}

TEST_F(a_primary_watch, believes_one_witness_alone) {
    ask(at(1s));
    const auto asked = watch_.next_question(at(2s));
    auto told = answer(verdict::granted, false);
    told.witness = two;
    watch_.witness_answered(*asked, told, at(2s));
    EXPECT_TRUE(watch_.has_met_another());
    EXPECT_EQ(watch_.may(at(2s)), primary_may::wait);
    EXPECT_EQ(watch_.self().witness, witness);
}

TEST_F(a_primary_watch, counts_on_from_where_no_earlier_start_of_it_has_been) {
    ask(at(1s));
    EXPECT_EQ(watch_.next_question(at(2s))->turn, (2ULL << 32U) + 1);
    EXPECT_FALSE(watch_.next_question(at(2'999ms)));
    EXPECT_EQ(watch_.next_question(at(3s))->turn, (2ULL << 32U) + 2);
}

TEST_F(a_primary_watch, that_may_not_go_alone_is_always_in_sync) {
    primary_watch waits({.stream = orders, .node = one, .epoch = 1}, timing, false);
    waits.witness_answered(*waits.next_question(at(1s)), answer(verdict::told), at(1s));
    const auto asked = waits.next_question(at(2s));
    EXPECT_TRUE(asked->in_sync);
    waits.witness_answered(*asked, answer(verdict::granted), at(2s));
    EXPECT_EQ(waits.may(at(2s)), primary_may::wait);
}

class a_standby_watch : public testing::Test {
protected:
    a_standby_watch() { watch_.copy_is_whole(true); }
    /// Every second from one moment to another.
    void look(std::chrono::seconds from, std::chrono::seconds until, const witness_answer& told) {
        for (auto now = from; now <= until && watch_.may_answer(); now += 1s) {
            const auto asked = watch_.next_question(at(now));
            ASSERT_TRUE(asked);
            if (asked->what == kind::claim) return;
            watch_.witness_answered(*asked, told, at(now));
        }
    }

    standby_watch watch_{{.stream = orders, .node = two, .epoch = 1}, timing, at(0s)};
};

TEST_F(a_standby_watch, claims_once_link_and_witness_were_silent_for_a_lease_and_a_tenth) {
    look(1s, 12s, answer(verdict::told));
    EXPECT_TRUE(watch_.may_answer());
    const auto asked = watch_.next_question(at(13s));
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->what, kind::claim);
    EXPECT_EQ(asked->beat, 1U);
    EXPECT_FALSE(watch_.may_answer());
    auto told = answer(verdict::granted, false, 2, 2);
    told.entry.holder = two;
    watch_.witness_answered(*asked, told, at(13s));
    EXPECT_TRUE(watch_.is_granted(at(13s)));
}

TEST_F(a_standby_watch, claims_nothing_while_there_is_a_sign_of_the_primary) {
    struct {
        const char* what;
        std::function<void(standby_watch&, int)> sign;
        std::function<witness_answer(int)> told;
    } const cases[] = {
        {"frames", [](auto& w, int s) { w.heard_primary(at(std::chrono::seconds{s})); },
         [](int) { return answer(verdict::told); }},
        {"beats", [](auto&, int) {},
         [](int s) { return answer(verdict::told, true, static_cast<std::uint64_t>(s / 5)); }},
        {"not in sync", [](auto&, int) {}, [](int) { return answer(verdict::told, false); }},
        {"half a copy", [](auto& w, int) { w.copy_is_whole(false); },
         [](int) { return answer(verdict::told); }},
        {"another epoch", [](auto&, int) {}, [](int) { return answer(verdict::told, true, 1, 2); }},
        {"a run that changes", [](auto&, int) {},
         [](int s) {
             auto told = answer(verdict::told);
             told.run = static_cast<std::uint64_t>(s / 6);
             return told;
         }},
        {"another witness", [](auto& w, int) { EXPECT_TRUE(w.may_answer()); },
         [](int s) {
             auto told = answer(verdict::told);
             if (s > 1) told.witness = one;
             return told;
         }},
    };
    for (const auto& each : cases) {
        standby_watch watch({.stream = orders, .node = two, .epoch = 1}, timing, at(0s));
        watch.copy_is_whole(true);
        for (int s = 1; s < 100; ++s) {
            each.sign(watch, s);
            const auto now = at(std::chrono::seconds{s});
            const auto asked = watch.next_question(now);
            ASSERT_TRUE(asked);
            ASSERT_EQ(asked->what, kind::look) << each.what << s;
            watch.witness_answered(*asked, each.told(s), now);
        }
    }
}

TEST_F(a_standby_watch, answers_no_frame_until_its_claim_is_refused) {
    look(1s, 30s, answer(verdict::told));
    const auto asked = watch_.next_question(at(31s));
    ASSERT_EQ(asked->what, kind::claim);
    EXPECT_FALSE(watch_.may_answer());
    EXPECT_EQ(watch_.next_question(at(32s))->what, kind::claim);  // No answer: once more.
    watch_.witness_answered(*asked, answer(verdict::early), at(32s));
    EXPECT_FALSE(watch_.may_answer());  // It may be granted later.
    watch_.witness_answered(*asked, answer(verdict::changed, true, 2), at(33s));
    EXPECT_TRUE(watch_.may_answer());
    EXPECT_EQ(watch_.next_question(at(34s))->what, kind::look);
}

TEST_F(a_standby_watch, that_was_granted_before_it_was_killed_waits_for_its_own_last_answer) {
    auto told = answer(verdict::told, false, 2, 2);
    told.entry.holder = two;
    watch_.witness_answered(*watch_.next_question(at(1s)), told, at(1s));
    EXPECT_FALSE(watch_.may_answer());
    EXPECT_FALSE(watch_.is_granted(at(10'999ms)));
    EXPECT_TRUE(watch_.is_granted(at(11s)));
}

class a_witness_file : public testing::Test {
protected:
    test::temporary_directory folder_{test::folder_in_memory()};
    std::filesystem::path path_ = folder_.file("witness");
    seeded_random random_{1};
};

TEST_F(a_witness_file, is_read_as_it_was_written_and_never_otherwise) {
    const witness_state state{.name = witness,
                              .version = 12,
                              .entries = {{orders, 3, one, true}, {{std::byte{9}}, 1, two, false}}};
    const auto text = to_text(state);
    EXPECT_EQ(parse_witness_state(text), state);
    const witness_identity self{
        .node = one, .witness = witness, .version = 5, .starts = 4'000'000'000};
    const auto identity = to_text(self);
    const auto read = parse_witness_identity(identity);
    ASSERT_TRUE(read);
    EXPECT_EQ(to_text(*read), identity);
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] ^= 1;
        EXPECT_FALSE(parse_witness_state(changed)) << i;
        EXPECT_FALSE(parse_witness_state(std::string_view(text).substr(0, i))) << i;
    }
    EXPECT_FALSE(parse_witness_identity(text));
    EXPECT_FALSE(parse_witness_identity(std::string_view(identity).substr(0, 40)));
}

TEST_F(a_witness_file, is_kept_and_belongs_to_one_process) {
    witness_state state;
    {
        auto file = witness_file::open(path_, random_).value();
        state = file.state();
        state.version = 3;
        state.entries = {{orders, 3, one, true}};
        ASSERT_TRUE(file.save(state));
        EXPECT_EQ(witness_file::open(path_, random_).error().code(), error_code::store_busy);
    }
    EXPECT_EQ(witness_file::open(path_, random_).value().state(), state);
}

TEST_F(a_witness_file, that_was_copied_from_elsewhere_is_not_believed) {
    ASSERT_TRUE(witness_file::open(path_, random_));
    namespace fs = std::filesystem;
    const fs::path other = folder_.file("other");
    fs::create_directory(other);
    for (const auto& each : fs::directory_iterator(folder_.path()))
        if (each.is_regular_file()) fs::copy_file(each.path(), other / each.path().filename());
    const auto refused = witness_file::open(other / "witness", random_);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(std::string(refused.error().what()).contains("was copied here"));
    fs::remove(folder_.file("witness.place"));
    EXPECT_FALSE(witness_file::open(path_, random_));
}

TEST_F(a_witness_file, of_a_node_counts_its_starts) {
    const auto database = folder_.file("orders.db");
    auto first = begin_with_witness(database, orders, 1, random_).value();
    EXPECT_EQ(first.starts, 1U);
    first.witness = witness;
    first.version = 9;
    ASSERT_TRUE(save_identity(database, first));
    const auto second = begin_with_witness(database, orders, 2, random_).value();
    EXPECT_EQ(second.starts, 2U);
    EXPECT_EQ(second.node, first.node);
    EXPECT_EQ(second.witness, witness);
    EXPECT_EQ(second.version, 9U);
    EXPECT_EQ(second.epoch, 2U);
}

}  // namespace
}  // namespace posthorn::standby
