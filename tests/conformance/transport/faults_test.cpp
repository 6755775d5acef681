// What a transport does when the way or the peer fails.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/cancellation.hpp"
#include "conformance/transport/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(transport_suite, calls_all_unanswered_while_the_peer_is_not_there) {
    warm_up();
    road_->refuse();
    const auto many = make_many(5);
    for (int round = 0; round < 3; ++round) {
        const auto answers = deliver(many);
        EXPECT_THAT(answers, SizeIs(5));
        EXPECT_THAT(answers, all_are(outcome::unanswered));
        EXPECT_THAT(answers, Each(Field(&delivery::error, Not(IsEmpty()))));
    }
    road_->mend();
    EXPECT_THAT(deliver(many), all_are(outcome::delivered));
    EXPECT_EQ(effects_of(many[0]), 1);
}

TEST_P(transport_suite, calls_a_request_that_broke_off_unanswered_and_goes_on) {
    for (const bool kept : {false, true}) {
        SCOPED_TRACE(kept ? "on a kept connection" : "on a new one");
        if (kept) warm_up();
        const auto many = make_many(3);
        road_->break_requests();
        const auto answers = deliver(many);
        EXPECT_THAT(answers, SizeIs(3));
        EXPECT_THAT(answers, all_are(outcome::unanswered));
        EXPECT_EQ(effects_of(many[0]), 0);
        road_->mend();
        EXPECT_THAT(deliver(many), all_are(outcome::delivered));
        for (const auto& one : many) EXPECT_EQ(effects_of(one), 1);
    }
}

TEST_P(transport_suite, calls_a_lost_answer_unanswered_and_its_repeat_a_duplicate) {
    warm_up();
    for (const std::size_t count : {1U, 3U}) {
        const auto many = make_many(count);
        road_->lose_answers();
        const auto answers = deliver(many);
        EXPECT_THAT(answers, SizeIs(count));
        EXPECT_THAT(answers, all_are(outcome::unanswered));
        for (const auto& one : many) EXPECT_EQ(effects_of(one), 1);
        road_->mend();
        expect_duplicates(many);
    }
}

TEST_P(transport_suite, takes_half_an_answer_for_none) {
    warm_up();
    for (const std::size_t count : {1U, 3U}) {
        const auto many = make_many(count);
        road_->truncate_answers();
        const auto answers = deliver(many);
        EXPECT_THAT(answers, SizeIs(count));
        EXPECT_THAT(answers, all_are(outcome::unanswered));
        road_->mend();
        expect_duplicates(many);
    }
}

TEST_P(transport_suite, puts_together_what_arrives_in_pieces) {
    road_->dribble();
    const auto many = make_many(5);
    const auto answers = deliver(many);
    EXPECT_THAT(answers, SizeIs(5));
    EXPECT_THAT(answers, all_are(outcome::delivered));
    for (const auto& one : many) EXPECT_EQ(effects_of(one), 1);
}

TEST_P(transport_suite, waits_for_an_answer_that_is_slow) {
    warm_up();
    road_->hold();
    const std::vector one{make()};
    auto slow = begin(*wire_, one);
    EXPECT_EQ(slow.wait_for(50ms), std::future_status::timeout);
    road_->mend();
    EXPECT_THAT(slow.get(), all_are(outcome::delivered));
    EXPECT_EQ(effects_of(one[0]), 1);
}

TEST_P(transport_suite, calls_an_answer_that_is_too_slow_unanswered_and_goes_on) {
    const auto hasty = road_->connect({.patience = 300ms});
    ASSERT_THAT(begin(*hasty, {make()}).get(), all_are(outcome::delivered));
    road_->hold();
    const auto many = make_many(3);
    const auto answers = begin(*hasty, many).get();
    EXPECT_THAT(answers, SizeIs(3));
    EXPECT_THAT(answers, all_are(outcome::unanswered));
    // What was on the way may still arrive, before the repeat or after it.
    road_->mend();
    EXPECT_THAT(deliver(many), all_are(outcome::delivered));
    for (const auto& one : many) EXPECT_EQ(effects_of(one), 1);
}

TEST_P(transport_suite, has_one_effect_where_requests_arrive_twice) {
    warm_up();
    const auto many = make_many(3);
    EXPECT_THAT(deliver(many), all_are(outcome::delivered));
    road_->replay();
    for (const auto& one : many) EXPECT_EQ(effects_of(one), 1);
    for (const auto& [id, times] : receiver_.effects()) EXPECT_EQ(times, 1);
    expect_works();
}

TEST_P(transport_suite, gives_each_its_own_answer_where_a_later_one_comes_first) {
    warm_up();
    const auto other = road_->connect({});
    road_->hold();
    const auto early = make_many(2);
    const auto late = make_many(2);
    auto held = begin(*wire_, early);
    const auto passed = begin(*other, late).get();
    ASSERT_THAT(passed, SizeIs(2));
    EXPECT_THAT(passed[0].payload, HasSubstr(late[0].id.to_string()));
    EXPECT_EQ(effects_of(early[0]), 0);
    road_->mend();
    const auto answers = held.get();
    ASSERT_THAT(answers, SizeIs(2));
    EXPECT_THAT(answers[0].payload, HasSubstr(early[0].id.to_string()));
    EXPECT_THAT(answers[1].payload, HasSubstr(early[1].id.to_string()));
}

TEST_P(transport_suite, gives_an_answer_for_each_when_it_is_cancelled) {
    namespace asio = boost::asio;
    warm_up();
    const std::vector many{make("Take"), make("Wait"), make("Take")};
    message_batch batch;
    for (const auto& one : many) batch.push_back(&one);
    asio::cancellation_signal stop;
    auto doomed = asio::co_spawn(threads_.executor(), cancellable(wire_->deliver(batch)),
                                 asio::bind_cancellation_slot(stop.slot(), asio::use_future));
    ASSERT_TRUE(are_waiting(1));
    asio::post(threads_.executor(), [&] { stop.emit(asio::cancellation_type::terminal); });
    const auto answers = doomed.get();
    EXPECT_THAT(answers, SizeIs(3));
    EXPECT_THAT(answers, all_are(outcome::unanswered));
    receiver_.release();
    expect_works();
}

TEST_P(transport_suite, finds_a_peer_again_that_has_restarted) {
    warm_up();
    for (int round = 0; round < 3; ++round) {
        start(threads_.executor(), road_->stop_peer(30s)).get();
        EXPECT_EQ(deliver(make()).what, outcome::unanswered);
        road_->start_peer();
        expect_works();
    }
}

TEST_P(transport_suite, lets_what_is_under_way_finish_when_the_peer_stops) {
    const std::vector alone{make("Wait")};
    const std::vector together{make("Wait"), make("Take")};
    auto one = begin(*wire_, alone);
    ASSERT_TRUE(are_waiting(1));
    auto two = begin(*wire_, together);
    ASSERT_TRUE(are_waiting(2));
    auto stopped = start(threads_.executor(), road_->stop_peer(30s));
    EXPECT_EQ(stopped.wait_for(20ms), std::future_status::timeout);
    receiver_.release();
    EXPECT_THAT(one.get(), all_are(outcome::delivered));
    EXPECT_THAT(two.get(), all_are(outcome::delivered));
    stopped.get();
    road_->start_peer();
    expect_duplicates(together);
}

TEST_P(transport_suite, calls_unanswered_what_a_peer_without_patience_cuts_off) {
    const std::vector many{make("Wait"), make("Take")};
    auto cut = begin(*wire_, many);
    ASSERT_TRUE(are_waiting(1));
    start(threads_.executor(), road_->stop_peer(0ms)).get();
    const auto answers = cut.get();
    EXPECT_THAT(answers, SizeIs(2));
    EXPECT_THAT(answers, all_are(outcome::unanswered));
    EXPECT_EQ(effects_of(many[0]), 0);
    receiver_.release();
    road_->start_peer();
    EXPECT_THAT(deliver(many), all_are(outcome::delivered));
}

TEST_P(transport_suite, brings_nothing_for_who_does_not_know_the_secret) {
    const auto stranger = road_->connect({.wrong_secret = true});
    for (const std::size_t count : {1U, 3U}) {
        const auto answers = begin(*stranger, make_many(count)).get();
        EXPECT_THAT(answers, SizeIs(count));
        EXPECT_THAT(answers, all_are(outcome::unanswered));
    }
    EXPECT_THAT(receiver_.arrived(), IsEmpty());
    expect_works();
}

TEST_P(transport_suite, settles_and_buries_nothing_on_a_forged_answer) {
    warm_up();
    for (const auto how : {forgery::unsigned_answer, forgery::other_key, forgery::other_answer,
                           forgery::other_status, forgery::other_body}) {
        SCOPED_TRACE(static_cast<int>(how));
        for (const std::size_t count : {1U, 3U}) {
            auto many = make_many(count);
            many.front().endpoint = "Fail";
            road_->forge_answers(how);
            const auto answers = deliver(many);
            EXPECT_THAT(answers, SizeIs(count));
            EXPECT_THAT(answers, all_are(outcome::unanswered));
            road_->forge_answers(forgery::none);
            many.erase(many.begin());
            expect_duplicates(many);
            expect_works();  // And is the earlier answer of the next round.
        }
    }
}

}  // namespace
}  // namespace posthorn::conformance
