#include "consume/consume_service.hpp"

#include <algorithm>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/run_on.hpp"
#include "consume/consume_dead.hpp"
#include "store/async.hpp"

namespace posthorn {
namespace {

constexpr std::size_t batch_max = 50;
constexpr std::size_t batches_max = 4;
constexpr std::chrono::seconds look_every{30};

}  // namespace

consume_service::consume_service(deps with, consume_source from,
                                 std::unique_ptr<broker_consumer> by)
    : with_(std::move(with)),
      from_(std::move(from)),
      name_("consumer of " + from_.name),
      by_(std::move(by)),
      batches_(with_.env.network) {
    from_.rules.destination = with_.service;
}

task<> consume_service::run() {
    by_->start([this] { changed_.ring(); });
    while (!stopping_) {
        note_link();
        drop_what_was_lost();
        take_in();
        extend();
        launch();
        std::ignore = co_await changed_.wait_for(with_.env.timer, until_next());
        if (co_await is_cancelled()) break;
    }
    stopping_ = true;
    co_await batches_.join();
    // It waits for the broker a little, which the network's thread must not.
    std::ignore = co_await run_on(with_.env.workers, [this] {
        by_.reset();
        return true;
    });
}

void consume_service::stop() {
    stopping_ = true;
    changed_.ring();
}

std::chrono::nanoseconds consume_service::until_next() const {
    const auto now = with_.env.clock.steady();
    std::chrono::nanoseconds wait = look_every;
    // One that is due while all hands are at work goes when a batch ends.
    if (const auto due = hand_.due_at(); due && at_work_ < batches_max)
        wait = std::min<std::chrono::nanoseconds>(wait, *due - now);
    if (!held_.empty() && extend_at_ != steady_time{})
        wait = std::min<std::chrono::nanoseconds>(wait, extend_at_ - now);
    return std::max<std::chrono::nanoseconds>(wait, std::chrono::milliseconds{1});
}

// Once for each trouble, and when a connection is there again.
void consume_service::note_link() {
    const auto now = by_->state();
    bool is_back = false;
    bool is_news = false;
    {
        const std::lock_guard held(mutex_);
        is_back = now.connected && !link_.connected;
        is_news = !now.trouble.empty() && now.trouble != link_.trouble;
        link_ = now;
        if (now.connected)
            apart_since_.reset();
        else if (!apart_since_)
            apart_since_ = with_.env.clock.wall();
    }
    if (is_back) with_.env.log.info("Consume: {Source} is connected", {{"Source", from_.name}});
    if (is_news)
        with_.env.log.warn(now.connected ? "Consume: {Source} leaves messages there: {Error}"
                                         : "Consume: {Source} is not connected: {Error}",
                           {{"Source", from_.name}, {"Error", now.trouble}});
}

// Of a connection that is gone: the broker gives them out again. What is at work ends.
void consume_service::drop_what_was_lost() {
    std::erase_if(held_, [this](const auto& each) {
        const auto tag = each.first;
        if (by_->holds(tag) || hand_.is_at_work(tag)) return false;
        hand_.ended(tag);
        return true;
    });
    in_hand_ = held_.size();
}

void consume_service::take_in() {
    for (auto& got : by_->take()) {
        const auto tag = got.tag;
        auto one = std::make_shared<holding>();
        if (got.deliveries > from_.patience.deliveries_max) {
            one->poison =
                fmt::format("it was given out {} times, and each process that worked on it ended",
                            got.deliveries);
        } else if (auto read = read_consumed(got, from_.rules)) {
            one->what = *std::move(read);
        } else {
            one->poison = read.error();
        }
        one->got = std::move(got);
        hand_.add(tag, one->what.order_key);
        held_.emplace(tag, std::move(one));
    }
    in_hand_ = held_.size();
}

void consume_service::extend() {
    const auto lease = by_->lease();
    if (lease <= lease.zero()) return;
    const auto now = with_.env.clock.steady();
    if (extend_at_ == steady_time{}) extend_at_ = now + lease / 3;
    if (now < extend_at_) return;
    extend_at_ = now + lease / 3;
    for (const auto& [tag, one] : held_) by_->extend(tag);
}

void consume_service::launch() {
    while (!stopping_ && at_work_ < batches_max) {
        const auto tags = hand_.next(with_.env.clock.steady(), batch_max);
        if (tags.empty()) return;
        std::vector<std::shared_ptr<holding>> batch;
        for (const auto tag : tags) batch.push_back(held_.at(tag));
        ++at_work_;
        batches_.spawn(work(std::move(batch)));
    }
}

task<> consume_service::work(std::vector<std::shared_ptr<holding>> batch) {
    message_batch given;
    std::vector<std::shared_ptr<holding>> asked;
    for (const auto& one : batch) {
        if (!one->poison.empty()) {
            co_await settle(one, {.what = consume_verdict::kind::put_aside}, one->poison);
            continue;
        }
        given.push_back(&one->what);
        asked.push_back(one);
    }
    auto* const inbox = with_.inbox();
    std::vector<delivery> answers(given.size(), delivery{.what = outcome::unanswered});
    if (inbox != nullptr && !given.empty()) answers = co_await inbox->receive(std::move(given));
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto& answer = answers[i];
        if (answer.what == outcome::delivered) ++(answer.duplicate ? duplicates_ : processed_);
        co_await settle(asked[i], judge_consumed(answer, asked[i]->tries, from_.patience),
                        answer.error);
    }
    --at_work_;
    changed_.ring();
}

task<> consume_service::settle(std::shared_ptr<holding> one, consume_verdict verdict,
                               std::string why) {
    using enum consume_verdict::kind;
    const auto tag = one->got.tag;
    if (verdict.what == put_aside && !co_await put_one_aside(*one, why))
        verdict = {.what = again, .pause = from_.patience.pause_max};
    if (verdict.what == again) {
        ++retried_;
        if (verdict.counted) ++one->tries;
        hand_.waits(tag, with_.env.clock.steady() + verdict.pause);
        with_.env.log.debug(
            "Consume: {MessageId} of {Source} is tried again: {Error}",
            {{"MessageId", one->got.what.id}, {"Source", from_.name}, {"Error", why}});
        co_return;
    }
    // Only now: what the broker is told is on disk.
    if (by_) by_->acknowledge(tag);
    hand_.ended(tag);
    held_.erase(tag);
    in_hand_ = held_.size();
}

task<bool> consume_service::put_one_aside(const holding& one, std::string why) {
    const auto now = with_.env.clock.wall();
    const auto done = co_await commit(with_.where, [&](store_transaction& tx) {
        return put_aside(tx, from_.name, one.got, why, now);
    });
    if (!done) {
        with_.env.log.error("Consume: {MessageId} of {Source} could not be put aside: {Error}",
                            {{"MessageId", one.got.what.id},
                             {"Source", from_.name},
                             {"Error", done.error().what()}});
        co_return false;
    }
    ++put_aside_;
    with_.env.log.error("Consume: {MessageId} of {Source} was put aside: {Error}",
                        {{"MessageId", one.got.what.id}, {"Source", from_.name}, {"Error", why}});
    co_return true;
}

consume_view consume_service::view() const {
    const std::lock_guard held(mutex_);
    return {.link = link_,
            .counts = {processed_, duplicates_, retried_, put_aside_},
            .in_hand = in_hand_,
            .apart_since = apart_since_};
}

}  // namespace posthorn
