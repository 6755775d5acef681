#include "store/postgres/commit/committer.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace posthorn::postgres {
namespace {

constexpr std::chrono::milliseconds pause_between_tries{100};

/// Whether nothing of it is stored, for certain.
bool has_failed(const member& one, commit_end end) {
    return end == commit_end::lost ||
           (!one.outcome && one.outcome.error().code() != error_code::commit_in_doubt);
}

/// Rows that were stored a while ago; this node's sweep may have found them, and sent them.
void leave_to_the_sweep(std::span<member> members) {
    for (auto& one : members)
        for (auto* const rows : {&one.enqueued, &one.released})
            for (auto& row : *rows) row.claim = 0;
}

/// What a node sends itself is not news to others.
bool is_for_others(const outbox_row& row) { return row.claim == 0 && !row.parked; }

}  // namespace

committer::committer(session_options options, std::unique_ptr<session> first, write_services& with,
                     executor& thread)
    : options_(std::move(options)),
      session_(std::move(first)),
      with_(with),
      thread_(thread),
      group_(with.time),
      used_at_(with.time.steady()),
      kept_at_(used_at_) {
    if (!session_) return;
    silence_max_ = session_->silence_max();
    backend_ = session_->database().backend();
    is_connected_ = true;
}

bool committer::is_good() const { return session_ && !session_->database().is_lost(); }

result<> committer::connect() {
    constexpr std::chrono::hours kept_for{1};
    const auto now = with_.time.steady();
    if (is_good() && now - kept_at_ > kept_for) {
        kept_at_ = now;
        std::ignore = session_->keep_writer();  // If that fails, it is lost.
    }
    if (is_good() && now - used_at_ <= rest_max) return {};
    if (!is_good()) session_.reset();
    auto opened = open();
    if (!opened && is_good()) {  // It may do yet.
        used_at_ = now;
        return {};
    }
    is_connected_ = opened.has_value();
    return opened;
}

result<> committer::open() {
    if (connect_error_ && with_.time.steady() - tried_at_ < pause_between_tries)
        return std::unexpected(*connect_error_);
    auto opened = session::open(options_, with_.time);
    tried_at_ = with_.time.steady();
    if (!opened) {
        if (!connect_error_)
            with_.log.warn("Store: no connection to the database: {Error}",
                           {{"Error", opened.error().what()}});
        connect_error_ = opened.error();
        return std::unexpected(std::move(opened).error());
    }
    if (std::exchange(connect_error_, std::nullopt)) with_.log.info("Store: connected again", {});
    session_ = *std::move(opened);
    silence_max_ = session_->silence_max();
    backend_ = session_->database().backend();
    used_at_ = kept_at_ = tried_at_;
    return {};
}

bool committer::commit(std::vector<member> members) {
    has_news_ = false;
    std::span<member> left(members);
    while (!left.empty()) commit_some(left);
    is_connected_ = is_good();
    must_look_again_ = is_connected_ && session_->transaction().keys().must_look_again();
    used_at_ = with_.time.steady();
    return has_news_;
}

// As many as fit into one transaction, and their answers.
void committer::commit_some(std::span<member>& left) {
    std::size_t took_part = left.size();
    const auto end = try_commit(left, took_part);
    const auto done = left.first(took_part);
    left = left.subspan(took_part);
    for (auto& one : done)
        if (deserves_another_try(one, end)) try_once_more(one);
    with_.units_done += done.size();
    answer(done);
}

commit_end committer::try_commit(std::span<member> members, std::size_t& took_part) {
    was_lost_ = false;
    for (auto& one : members) one.gave_way = false;
    if (auto connected = connect(); !connected) {
        for (auto& one : members)
            if (!one.settled) one.outcome = connected;
        return commit_end::refused;
    }
    // If that fails, the session is lost, and the group finds it so.
    std::ignore = session_->claim_as(with_.news.claims_as());
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
commit_end committer::resolve(std::span<member> members) {
    const auto expected = number_ + 1;
    const int old_backend = backend_;
    const auto give_up_at = with_.time.steady() + in_doubt_max;
    error last(error_code::store_unavailable, "no connection");
    while (with_.time.steady() < give_up_at) {
        if (auto connected = connect(); !connected) {
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
        with_.log.warn(
            "Store: the connection was lost at a commit, which {Outcome}",
            {{"Outcome", committed ? "had taken hold" : "had not taken hold: it is repeated"}});
        if (committed) {
            leave_to_the_sweep(members);
            return commit_end::committed;
        }
        for (auto& one : members) one.forget_rows();
        return commit_end::lost;
    }
    number_ = expected;  // Past both of what it may be.
    for (auto& one : members) {
        one.forget_rows();
        if (!one.settled)
            one.outcome = fail(error_code::commit_in_doubt,
                               "{}; whether this commit took hold shows when the database is back: "
                               "repeat it with the same message id",
                               last.what());
    }
    return commit_end::refused;
}

// The server ends a session that says nothing for too long within a transaction.
bool committer::was_silent() const { return was_lost_ && silence_ >= silence_max_; }

// A session that waited for its next transaction may have been lost long ago. And of two that hold
// what the other wants the server ends one, for which it may go well now.
bool committer::deserves_another_try(const member& one, commit_end end) const {
    if (end == commit_end::lost) return true;
    if (!has_failed(one, end)) return false;
    return one.gave_way || (one.work.alone ? was_lost_ : was_silent());
}

// Who was frozen, and is not to blame, is not so again. One that is slow every time would otherwise
// be repeated for ever, and no attempt charged.
void committer::try_once_more(member& one) {
    constexpr int tries_max = 3;
    if (one.settled) return;
    for (int tries = 1;; ++tries) {
        one.outcome = {};
        std::size_t took_part = 0;
        const auto end = try_commit({&one, 1}, took_part);
        if (has_failed(one, end) && was_silent()) {
            one.outcome =
                fail(error_code::statement_interrupted,
                     "it kept its transaction idle for {} ms, and the server ended that; do "
                     "what is slow before or after",
                     std::chrono::floor<std::chrono::milliseconds>(silence_).count());
            break;
        }
        // What others held it up for may be over; a commit that did not take hold is repeated.
        const bool again = deserves_another_try(one, end) ||
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

void committer::answer(std::span<member> members) {
    std::vector<outbox_row> enqueued, released;
    bool announced = false;
    const auto now = with_.time.steady();
    for (auto& one : members) {
        with_.trouble.note(one.outcome, now);
        if (!one.outcome) continue;
        std::ranges::move(one.enqueued, std::back_inserter(enqueued));
        std::ranges::move(one.released, std::back_inserter(released));
        announced |= one.announced;
    }
    has_news_ |= std::ranges::any_of(enqueued, is_for_others) ||
                 std::ranges::any_of(released, is_for_others);
    with_.news.tell(std::move(enqueued), std::move(released), announced);
    for (auto& one : members)
        if (one.work.done) one.work.done(std::move(one.outcome));
}

bool committer::tell_others() { return is_good() && session_->notify().has_value(); }

void committer::close() {
    if (is_good()) session_->forget_writer();
    session_.reset();
}

}  // namespace posthorn::postgres
