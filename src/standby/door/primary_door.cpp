#include "standby/door/primary_door.hpp"

#include <utility>

namespace posthorn::standby {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_every{100};      // Whether it is to stop, or a second one has waited.
constexpr milliseconds refresh_every{1000};  // Strangers cannot make it read files for each.
constexpr milliseconds refusal_patience{100};

}  // namespace

primary_door::primary_door(link_listener at, const parts& with, const limits& most)
    : at_(std::move(at)), with_(with), most_(most) {
    thread_.post([this] { run(); });
}

primary_door::~primary_door() { stop(); }

void primary_door::stop() {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    at_.cut_off();
    if (over_ != nullptr) over_->cut_off();
    changed_.notify_all();
}

std::string primary_door::trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
}

void primary_door::note(const std::string& why) {
    {
        const std::scoped_lock lock(mutex_);
        if (stopping_) return;
        trouble_ = why;
    }
    if (const auto held_back = lines_.admit(with_.time.steady()))
        with_.log.warn("Standby: a connection was refused: {Error}",
                       {{"Error", *held_back == 0 ? why
                                                  : fmt::format("{} ({} more lines like this)", why,
                                                                *held_back)}});
}

// What cannot be read now may be in the middle of a change: what was read before stays.
void primary_door::refresh() {
    const auto now = with_.time.steady();
    if (read_at_ && now - *read_at_ < refresh_every) return;
    read_at_ = now;
    if (auto fresh = with_.access.keys())
        keys_ = *std::move(fresh);
    else
        note(fresh.error().what());
    if (auto fresh = with_.access.security())
        security_ = *std::move(fresh);
    else
        note(fresh.error().what());
}

std::unique_ptr<link_greeting> primary_door::greet() {
    introduction::facts facts{.keys = keys_, .now = with_.time.wall(), .nonce = {}};
    with_.random.fill(facts.nonce);
    return std::make_unique<introduction>(std::move(facts));
}

void primary_door::run() {
    refresh();
    link_lobby lobby(most_.lobby, {.at = at_,
                                   .time = with_.time,
                                   .security =
                                       [this] {
                                           refresh();
                                           return security_;
                                       },
                                   .greet = [this] { return greet(); }});
    for (;;) {
        auto news = lobby.look(look_every);
        {
            const std::scoped_lock lock(mutex_);
            if (stopping_) return;
        }
        for (const auto& each : news.trouble) note(each);
        for (auto& each : news.over) take(std::move(each));
        look_at_second();
        if (news.is_closed) return;
    }
}

void primary_door::take(link_lobby::arrival came) {
    auto& said = static_cast<introduction&>(*came.greeting);
    if (!said.proven()) return note(said.trouble());
    offer({.socket = std::move(came.socket),
           .seal = std::move(said.seal()),
           .who = *said.proven(),
           .since = with_.time.steady()});
}

void primary_door::offer(proven_primary one) {
    std::unique_lock lock(mutex_);
    if (!followed_ && !waiting_) {
        waiting_ = std::move(one);
        changed_.notify_all();
        return;
    }
    const auto& other = followed_ ? *followed_ : waiting_->who.run;
    const second_primary_facts seen{.is_same_run = one.who.run == other,
                                    .other_waits = waiting_.has_value(),
                                    .patience = most_.second_waits};
    const auto what = judge_second(seen);
    if (what == second_primary::is_refused) {
        lock.unlock();
        return refuse(std::move(one));
    }
    if (what == second_primary::takes_over && over_ != nullptr) over_->cut_off();
    waiting_ = std::move(one);
    changed_.notify_all();
}

void primary_door::look_at_second() {
    std::unique_lock lock(mutex_);
    if (!waiting_ || !followed_ || waiting_->who.run == *followed_) return;
    const second_primary_facts seen{
        .waited = std::chrono::floor<milliseconds>(with_.time.steady() - waiting_->since),
        .patience = most_.second_waits};
    if (judge_second(seen) != second_primary::is_refused) return;
    auto late = *std::exchange(waiting_, std::nullopt);
    lock.unlock();
    refuse(std::move(late));
}

void primary_door::refuse(proven_primary one) {
    const auto why = fmt::format(
        "this standby follows another process of {} that is alive: two primaries have one standby; "
        "stop the one that is not meant to run",
        words_of(std::as_bytes(std::span(one.who.service))));
    note(why);
    link_channel over(std::move(one.socket), std::move(one.seal), refusal_patience);
    std::ignore = over.say(link_kind::refused, {std::as_bytes(std::span(why))});
}

std::optional<proven_primary> primary_door::next(milliseconds at_most) {
    std::unique_lock lock(mutex_);
    followed_.reset();
    changed_.wait_for(lock, at_most, [this] { return stopping_ || waiting_; });
    if (stopping_ || !waiting_) return std::nullopt;
    auto one = std::exchange(waiting_, std::nullopt);
    followed_ = one->who.run;
    trouble_.clear();
    return one;
}

void primary_door::follows(const link_channel* over) {
    const std::scoped_lock lock(mutex_);
    over_ = over;
    if (stopping_ && over_ != nullptr) over_->cut_off();
}

}  // namespace posthorn::standby
