#include "store/postgres/writer.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace posthorn::postgres {
namespace {

constexpr std::size_t units_max = 250;
constexpr std::chrono::milliseconds pause_between_tries{100};

}  // namespace

writer::writer(session_options options, std::unique_ptr<session> first, const clock& time,
               executor& thread, logger& log)
    : options_(std::move(options)),
      session_(std::move(first)),
      time_(time),
      thread_(thread),
      log_(log),
      group_(time),
      silence_max_(session_->silence_max()),
      backend_(session_->database().backend()) {}

void writer::listen(commit_listener* listener) {
    const std::scoped_lock lock(listening_);
    listener_ = listener;
}

void writer::submit(std::vector<unit> work) {
    bool refused = false;
    {
        const std::scoped_lock lock(mutex_);
        refused = stopping_;
        if (!refused)
            for (auto& one : work) (one.lazy ? lazy_ : queue_).push_back(std::move(one));
    }
    if (refused) {
        for (auto& one : work)
            if (one.done)
                one.done(
                    fail(error_code::closed, "the store is stopping; send again after a restart"));
        return;
    }
    schedule_if_needed();
}

void writer::schedule_if_needed() {
    {
        const std::scoped_lock lock(mutex_);
        if (scheduled_ || !is_wanted()) return;
        scheduled_ = true;
    }
    thread_.post([this] { work(); });
}

bool writer::is_wanted() const { return !queue_.empty() || (stopping_ && !lazy_.empty()); }

void writer::work() {
    if (auto members = take_group(); !members.empty()) commit(std::move(members));
    bool is_idle = false;
    {
        const std::scoped_lock lock(mutex_);
        is_idle = !is_wanted();
    }
    tell_others(is_idle);
    {
        const std::scoped_lock lock(mutex_);
        scheduled_ = is_wanted();
        if (!scheduled_) {
            idle_.notify_all();
            return;  // Whoever waits in stop() may destroy us now.
        }
    }
    thread_.post([this] { work(); });
}

std::vector<member> writer::take_group() {
    const std::scoped_lock lock(mutex_);
    std::vector<member> members;
    const auto take = [&](std::deque<unit>& from, std::size_t up_to) {
        while (!from.empty() && members.size() < up_to && !from.front().alone) {
            members.push_back({.work = std::move(from.front())});
            from.pop_front();
        }
    };
    // Some of the lazy ones come first: behind a queue that never empties they would never come.
    take(lazy_, units_max / 4);
    take(queue_, units_max);
    take(lazy_, units_max);
    if (members.empty() && !queue_.empty()) {
        members.push_back({.work = std::move(queue_.front())});
        queue_.pop_front();
    }
    return members;
}

result<> writer::connect_anew() {
    if (session_ && !session_->database().is_lost()) return {};
    session_.reset();
    const auto now = time_.steady();
    if (connect_error_ && now - tried_at_ < pause_between_tries)
        return std::unexpected(*connect_error_);
    tried_at_ = now;
    auto opened = session::open(options_, time_);
    if (!opened) {
        if (!connect_error_)
            log_.warn("Store: no connection to the database: {Error}",
                      {{"Error", opened.error().what()}});
        connect_error_ = opened.error();
        return std::unexpected(std::move(opened).error());
    }
    if (std::exchange(connect_error_, std::nullopt)) log_.info("Store: connected again", {});
    session_ = *std::move(opened);
    silence_max_ = session_->silence_max();
    backend_ = session_->database().backend();
    return {};
}

void writer::commit(std::vector<member> members) {
    std::span<member> left(members);
    while (!left.empty()) commit_some(left);
}

// As many as fit into one transaction, and their answers.
void writer::commit_some(std::span<member>& left) {
    std::size_t took_part = left.size();
    const auto end = try_commit(left, took_part);
    const auto done = left.first(took_part);
    left = left.subspan(took_part);
    if (end == commit_end::lost || (done.size() == 1 && was_silent(done.front(), end)))
        commit_alone(done);
    units_done_ += done.size();
    answer(done);
}

std::int64_t writer::claimer() {
    const std::scoped_lock lock(listening_);
    return listener_ == nullptr ? 0 : listener_->claims_as();
}

commit_end writer::try_commit(std::span<member> members, std::size_t& took_part) {
    was_lost_ = false;
    if (auto connected = connect_anew(); !connected) {
        for (auto& one : members)
            if (!one.settled) one.outcome = connected;
        return commit_end::refused;
    }
    // If that fails, the session is lost, and the group finds it so.
    std::ignore = session_->claim_as(claimer());
    session_->database().hear_silence();
    const auto [end, count] = group_.commit(*session_, members, number_ + 1);
    took_part = count;
    was_lost_ = session_->database().is_lost();
    silence_ = session_->database().longest_silence();
    if (end == commit_end::committed) ++number_;
    return end == commit_end::in_doubt ? resolve(members.first(count)) : end;
}

// The row of this writer says which commit was its last. It is read under the lock that the lost
// backend has until it ends.
commit_end writer::resolve(std::span<member> members) {
    const auto expected = number_ + 1;
    const int old_backend = backend_;
    const auto give_up_at = time_.steady() + in_doubt_max;
    error last(error_code::store_unavailable, "no connection");
    while (time_.steady() < give_up_at) {
        if (auto connected = connect_anew(); !connected) {
            last = connected.error();
            thread_.rest(pause_between_tries);
            continue;
        }
        const auto number = session_->last_commit(old_backend);
        if (!number) {
            last = number.error();
            continue;
        }
        number_ = *number;
        const bool committed = *number == expected;
        log_.warn(
            "Store: the connection was lost at a commit, which {Outcome}",
            {{"Outcome", committed ? "had taken hold" : "had not taken hold: it is repeated"}});
        if (committed) return commit_end::committed;
        for (auto& one : members) {
            one.enqueued.clear();
            one.released.clear();
        }
        return commit_end::lost;
    }
    number_ = expected;  // Past both of what it may be.
    for (auto& one : members) {
        one.enqueued.clear();
        one.released.clear();
        if (!one.settled)
            one.outcome = fail(error_code::commit_in_doubt,
                               "{}; whether this commit took hold shows when the database is back: "
                               "repeat it with the same message id",
                               last.what());
    }
    return commit_end::refused;
}

// The server ends a session that says nothing for too long within a transaction.
bool writer::was_silent(const member& one, commit_end end) const {
    const bool has_failed =
        end == commit_end::lost ||
        (!one.outcome && one.outcome.error().code() != error_code::commit_in_doubt);
    return has_failed && was_lost_ && silence_ >= silence_max_;
}

// Who was frozen, and is not to blame, is not so again. One that is slow every time would otherwise
// be repeated for ever, and no attempt charged.
void writer::commit_alone(std::span<member> members) {
    constexpr int tries_max = 3;
    for (auto& one : members) {
        if (one.settled) continue;
        for (int tries = 1;; ++tries) {
            one.outcome = {};
            std::size_t took_part = 0;
            const auto end = try_commit({&one, 1}, took_part);
            if (was_silent(one, end)) {
                one.outcome =
                    fail(error_code::statement_interrupted,
                         "it kept its transaction idle for {} ms, and the server ended that; do "
                         "what is slow before or after",
                         std::chrono::floor<std::chrono::milliseconds>(silence_).count());
                break;
            }
            // What others held it up for may be over; a commit that did not take hold is repeated.
            const bool again =
                end == commit_end::lost ||
                (!one.outcome && one.outcome.error().code() == error_code::store_busy);
            if (!again) break;
            if (tries == tries_max) {
                if (one.outcome)
                    one.outcome = fail(error_code::store_unavailable,
                                       "the connection was lost again and again; try again");
                break;
            }
        }
        one.settled = true;
    }
}

void writer::answer(std::span<member> members) {
    std::vector<outbox_row> enqueued, released;
    const auto now = time_.steady();
    for (auto& one : members) {
        trouble_.note(one.outcome, now);
        if (!one.outcome) continue;
        std::ranges::move(one.enqueued, std::back_inserter(enqueued));
        std::ranges::move(one.released, std::back_inserter(released));
    }
    // What this node sends itself is news to nobody.
    const auto is_for_others = [](const outbox_row& row) { return row.claim == 0 && !row.parked; };
    has_news_ |= std::ranges::any_of(enqueued, is_for_others) ||
                 std::ranges::any_of(released, is_for_others);
    if (!enqueued.empty() || !released.empty()) {
        const std::scoped_lock lock(listening_);
        if (listener_ != nullptr && !enqueued.empty()) listener_->committed(std::move(enqueued));
        if (listener_ != nullptr && !released.empty()) listener_->released(std::move(released));
    }
    for (auto& one : members)
        if (one.work.done) one.work.done(std::move(one.outcome));
}

// After the commit and apart from it: inside, it would make all commits of the database wait for
// each other. Once for all that came meanwhile.
void writer::tell_others(bool is_idle) {
    constexpr std::chrono::milliseconds distance{5};
    if (!has_news_ || !session_ || session_->database().is_lost()) return;
    const auto now = time_.steady();
    if (!is_idle && now - told_at_ < distance) return;
    told_at_ = now;
    has_news_ = !session_->notify().has_value();
}

void writer::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    schedule_if_needed();
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !scheduled_ && queue_.empty() && lazy_.empty(); });
    if (session_ && !session_->database().is_lost()) session_->forget_writer();
    session_.reset();
}

}  // namespace posthorn::postgres
