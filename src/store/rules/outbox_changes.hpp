#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "base/time/clock.hpp"
#include "store/outbox_table.hpp"
#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/statements/outbox_changes_sql.hpp"
#include "store/swallowed.hpp"

namespace posthorn {

/// What every store does alike with messages in the outbox, inside a write transaction; how a row
/// is inserted, and which of many are settled in one statement, is each store's own. A store gives
/// what the transaction has beside them: `changes`, where they are logged,
/// `closed`, the account of those that were given up, and `keys`, the order of those with a key.
///
/// Lifetime: as its connection, and that of its neighbours.
/// Threads:  the writer's.
template <class Driver, class Neighbours>
class outbox_changes : public outbox_table {
public:
    outbox_changes(typename Driver::connection& database, const clock& time,
                   const Neighbours& others, const outbox_changes_sql& texts = outbox_changes_texts)
        : time_(time),
          with_(others),
          retry_(database, texts.retry),
          close_(database, texts.close),
          pending_(database, texts.pending),
          attempt_(database, texts.attempt),
          unanswered_(database, texts.unanswered),
          end_(database, texts.end),
          requeue_(database, texts.requeue),
          known_(database, texts.known),
          told_(database, texts.told),
          pause_(database, texts.pause),
          resume_(database, texts.resume) {}

    result<enqueued> insert(message&& body) override;
    using outbox_table::insert;
    result<bool> requeue(const uuid& id) override;
    result<bool> mark_notified(std::int64_t seq) override {
        bool is_at_end = false;
        POSTHORN_LET(told, told_.run(seq));
        POSTHORN_TRY(told.each([&](const sql_row& row) { is_at_end = row.integer(0) != 0; }));
        return is_at_end;
    }
    result<bool> pause(const paused_destination& what) override {
        const auto reason = Driver::storable(what.reason);
        POSTHORN_LET(paused, pause_.run(what.destination, to_ms(what.since), reason));
        return paused.changed() > 0;
    }
    result<bool> resume(std::string_view destination) override {
        POSTHORN_LET(resumed, resume_.run(destination));
        return resumed.changed() > 0;
    }
    result<> set_order_policy(order_policy policy) override {
        return with_.keys.set_policy(policy);
    }
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) override {
        return with_.keys.release_unblocked(seqs);
    }

    /// What the present unit inserted, for the hot path and the change log.
    std::vector<outbox_row> take_enqueued() { return std::exchange(enqueued_, {}); }

protected:
    struct inserted_row {
        std::int64_t seq = 0;
        bool parked = false;
        std::int64_t claim = 0;  // The epoch that it was stored under, where there are several.
    };
    /// The numbers of settled rows, by what became of them.
    class settled_rows {
    public:
        void add(outbox_status to, std::int64_t seq) { of(to).push_back(seq); }
        [[nodiscard]] std::vector<std::int64_t>& of(outbox_status to) {
            return by_status_[static_cast<std::size_t>(to)];
        }

    private:
        std::array<std::vector<std::int64_t>, 5> by_status_;
    };

    [[nodiscard]] const Neighbours& beside() const noexcept { return with_; }
    /// `error_code::duplicate_id` if its id is there.
    virtual result<inserted_row> insert_row(const message& body) = 0;
    /// Waits for others that store the same dedupe key just now, where there may be any.
    virtual void await_others(const message&) {}

    /// Writes what became of a row that was not sent; false if it is not pending any more.
    result<bool> retry_or_close(const settlement& outcome);
    /// Of a row that a statement has left as it was: a person was quicker, unless it is pending.
    result<> require_done(std::int64_t seq) {
        POSTHORN_LET(found, pending_.run(seq));
        if (found.empty()) return {};
        return swallowed("outbox_messages");
    }
    /// What goes with an outcome that was written, beside the row itself.
    result<> follow_up(const settlement& outcome);
    /// Logs them all; gives their number.
    result<std::int64_t> log_settled(settled_rows settled);

private:
    const clock& time_;
    Neighbours with_;
    typename Driver::statement retry_;
    typename Driver::statement close_;
    typename Driver::statement pending_;
    typename Driver::statement attempt_;
    typename Driver::statement unanswered_;
    typename Driver::statement end_;
    typename Driver::statement requeue_;
    typename Driver::statement known_;
    typename Driver::statement told_;
    typename Driver::statement pause_;
    typename Driver::statement resume_;
    std::vector<outbox_row> enqueued_;
};

template <class Driver, class Neighbours>
result<enqueued> outbox_changes<Driver, Neighbours>::insert(message&& body) {
    POSTHORN_LET(known, find_known(body, [&] {
                     await_others(body);
                     return known_.run(body.destination, body.dedupe_key);
                 }));
    if (known) return *known;
    POSTHORN_LET(row, insert_row(body));
    const enqueued stored{.seq = row.seq, .id = body.id};
    enqueued_.push_back(
        {.seq = row.seq, .body = std::move(body), .parked = row.parked, .claim = row.claim});
    return stored;
}

template <class Driver, class Neighbours>
result<bool> outbox_changes<Driver, Neighbours>::requeue(const uuid& id) {
    std::optional<std::int64_t> seq;
    {
        POSTHORN_LET(requeued, requeue_.run(id));
        POSTHORN_TRY(requeued.each([&](const sql_row& row) { seq = row.integer(0); }));
    }
    if (!seq) return false;
    POSTHORN_TRY(with_.keys.place(*seq));
    POSTHORN_TRY(with_.changes.append("outbox.requeued", {*seq}, time_.wall()));
    return true;
}

template <class Driver, class Neighbours>
result<bool> outbox_changes<Driver, Neighbours>::retry_or_close(const settlement& outcome) {
    const auto error = Driver::storable(outcome.error);
    const auto resolution = Driver::storable(outcome.resolution);
    const std::int64_t charged = outcome.charged ? 1 : 0;
    POSTHORN_LET(changed, outcome.to == outbox_status::pending
                              ? retry_.run(outcome.seq, charged, to_ms(outcome.next_attempt_at),
                                           to_ms(outcome.at), or_null(error))
                              : close_.run(outcome.seq, to_string(outcome.to), charged,
                                           to_ms(outcome.at), or_null(error), or_null(resolution),
                                           std::int64_t{outcome.keeps_last_error}));
    if (changed.changed() > 0) return true;
    POSTHORN_TRY(require_done(outcome.seq));
    return false;
}

template <class Driver, class Neighbours>
result<> outbox_changes<Driver, Neighbours>::follow_up(const settlement& outcome) {
    const bool is_sent = outcome.to == outbox_status::sent;
    const bool given_up = !is_sent && outcome.to != outbox_status::pending;
    if (given_up) POSTHORN_TRY(with_.closed.record(outcome.seq, outcome.to, outcome.at));
    if (given_up || (is_sent && outcome.followers_wait))
        POSTHORN_TRY(with_.keys.let_go_after(outcome.seq));
    if (outcome.to == outbox_status::dead || outcome.to == outbox_status::expired)
        POSTHORN_TRY(Driver::soon(end_, outcome.seq));
    if (outcome.error.empty()) return {};
    const auto error = Driver::storable(outcome.error);
    if (outcome.effect_unknown)
        POSTHORN_TRY(Driver::soon(unanswered_, outcome.seq, to_ms(outcome.at), error));
    if (!outcome.charged) return {};
    return Driver::soon(attempt_, outcome.seq, to_ms(outcome.at), error);
}

template <class Driver, class Neighbours>
result<std::int64_t> outbox_changes<Driver, Neighbours>::log_settled(settled_rows settled) {
    using enum outbox_status;
    static constexpr std::array<std::pair<outbox_status, std::string_view>, 5> logged_as{
        {{pending, "outbox.retry"},
         {sent, "outbox.sent"},
         {dead, "outbox.dead"},
         {expired, "outbox.expired"},
         {resolved, "outbox.resolved"}}};
    std::int64_t number = 0;
    for (const auto& [to, kind] : logged_as) {
        number += std::ssize(settled.of(to));
        POSTHORN_TRY(with_.changes.append(kind, std::move(settled.of(to)), time_.wall()));
    }
    return number;
}

}  // namespace posthorn
