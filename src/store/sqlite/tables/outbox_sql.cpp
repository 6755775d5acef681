#include "store/sqlite/tables/outbox_sql.hpp"

#include <array>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "base/planted.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

/// Sent, and nothing but the row itself changes.
bool is_plainly_sent(const settlement& one) {
    return one.to == outbox_status::sent && !one.followers_wait && !one.parks &&
           (!one.charged || one.error.empty());
}

/// How many at the beginning are plainly sent, at one time, with numbers that follow each other; at
/// least one, whatever that is.
std::size_t sent_in_a_row(std::span<const settlement> of) {
    if (!is_plainly_sent(of.front())) return 1;
    std::size_t count = 1;
    while (count < of.size() && is_plainly_sent(of[count]) &&
           of[count].seq == of[count - 1].seq + 1 && of[count].at == of.front().at)
        ++count;
    return count;
}

}  // namespace

result<outbox_sql> outbox_sql::open(connection& database, const clock& time, outbox_rules rules) {
    outbox_sql table;
    table.time_ = &time;
    table.rules_ = std::move(rules);
    POSTHORN_TRY(open_into(table.order_, database));
    POSTHORN_TRY(prepare_all(
        database,
        {{&table.insert_, outbox_insert_sql},
         {&table.known_, outbox_known_sql},
         {&table.one_, "SELECT " POSTHORN_OUTBOX_COLUMNS_WITH(
                           "payload") " FROM outbox_messages WHERE seq = ?1"
                                      " AND status = 'Pending' AND next_retry_at <= ?2"},
         {&table.policy_, "REPLACE INTO posthorn_meta (name, value) VALUES ('order_policy', ?)"},
         {&table.send_,
          "UPDATE outbox_messages SET status = 'Sent', sent_at = ?2, last_attempt_at = ?2"
          " WHERE seq = ?1 AND status = 'Pending'"},
         // By the number alone: the rows lie side by side, whatever an index could find.
         {&table.send_many_,
          "UPDATE outbox_messages NOT INDEXED SET status = 'Sent', sent_at = ?3,"
          " last_attempt_at = ?3 WHERE seq BETWEEN ?1 AND ?2 AND status = 'Pending'"},
         {&table.pending_count_,
          "SELECT count(*) FROM outbox_messages NOT INDEXED WHERE seq BETWEEN ?1 AND ?2"
          " AND status = 'Pending'"},
         {&table.close_,
          "UPDATE outbox_messages SET status = ?2, retry_count = retry_count + ?3,"
          " last_attempt_at = CASE WHEN ?3 THEN ?4 ELSE last_attempt_at END,"
          " last_error = coalesce(?5 || CASE WHEN ?7 THEN '; last: ' || last_error END, ?5,"
          " last_error), resolution = ?6"
          " WHERE seq = ?1 AND status = 'Pending'"},
         {&table.retry_,
          "UPDATE outbox_messages SET retry_count = retry_count + ?2, next_retry_at = ?3,"
          " last_attempt_at = ?4, last_error = coalesce(?5, last_error)"
          " WHERE seq = ?1 AND status = 'Pending'"},
         // Numbered over all rounds: a requeued message keeps its earlier attempts.
         {&table.attempt_,
          "INSERT INTO outbox_attempts (seq, attempt, at, error) SELECT ?1, coalesce("
          "(SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1, ?2, ?3"},
         {&table.requeue_,
          "UPDATE outbox_messages SET status = 'Pending', retry_count = 0"
          " WHERE message_id = ? AND status = 'Dead' RETURNING seq"},
         {&table.pause_,
          "INSERT OR IGNORE INTO outbox_paused (destination, paused_at, reason) VALUES (?, ?, ?)"},
         {&table.resume_, "DELETE FROM outbox_paused WHERE destination = ?"},
         {&table.end_, "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)"},
         {&table.told_, "DELETE FROM outbox_ended WHERE seq = ?"},
         {&table.is_ended_,
          "SELECT 1 FROM outbox_messages WHERE seq = ? AND status IN ('Dead', 'Expired')"},
         {&table.epoch_, "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"}}));
    return table;
}

result<enqueued> outbox_sql::insert(message body) {
    if (!body.dedupe_key.empty()) {
        POSTHORN_LET(known, find_known(known_, body));
        if (known) return *known;
    }
    POSTHORN_TRY(room_->require_room());
    POSTHORN_LET(seq, insert_message(insert_, body));
    const enqueued stored{.seq = seq, .id = body.id};
    bool parked = false;
    if (!body.order_key.empty() && !POSTHORN_PLANTED(order_forgotten)) {
        POSTHORN_LET(blocked, order_.is_blocked(seq));
        parked = blocked;
    }
    enqueued_.push_back({.seq = seq, .body = std::move(body), .parked = parked});
    return stored;
}

result<> outbox_sql::require_epoch(std::int64_t epoch) {
    const reset_at_end reset(epoch_);
    POSTHORN_LET(row, epoch_.step());
    if (POSTHORN_PLANTED(lease_without_epoch)) return {};
    if (row && epoch_.integer(0) == epoch) return {};
    return fail(error_code::lease_lost, "epoch {} is over; another node dispatches this outbox now",
                epoch);
}

result<> outbox_sql::settle_one(const settlement& outcome) {
    if (outcome.parks) {
        POSTHORN_TRY(order_.park(outcome.seq));
        return {};
    }
    const bool retry = outcome.to == outbox_status::pending;
    if (outcome.to == outbox_status::sent) {
        send_.bind(1, outcome.seq);
        send_.bind(2, to_ms(outcome.at));
        return send_.run();
    }
    auto& update = retry ? retry_ : close_;
    update.bind(1, outcome.seq);
    if (retry) {
        update.bind(2, std::int64_t{outcome.charged});
        update.bind(3, to_ms(outcome.next_attempt_at));
    } else {
        update.bind(2, to_string(outcome.to));
        update.bind(3, std::int64_t{outcome.charged});
        update.bind_or_null(6, outcome.resolution);
        update.bind(7, std::int64_t{outcome.keeps_last_error});
    }
    update.bind(4, to_ms(outcome.at));
    update.bind_or_null(5, outcome.error);
    return update.run();
}

result<bool> outbox_sql::record(const settlement& outcome) {
    POSTHORN_TRY(settle_one(outcome));
    if (sqlite3_changes(sqlite3_db_handle(send_.handle())) == 0) return false;
    const bool given_up = outcome.to != outbox_status::sent && outcome.to != outbox_status::pending;
    if (given_up) POSTHORN_TRY(closed_->record(outcome.seq, outcome.to, outcome.at));
    if (given_up || (outcome.to == outbox_status::sent && outcome.followers_wait))
        POSTHORN_TRY(let_go_after(outcome.seq));
    if (outcome.to == outbox_status::dead || outcome.to == outbox_status::expired) {
        end_.bind(1, outcome.seq);
        POSTHORN_TRY(end_.run());
    }
    if (!outcome.charged || outcome.error.empty()) return true;
    attempt_.bind(1, outcome.seq);
    attempt_.bind(2, to_ms(outcome.at));
    attempt_.bind(3, std::string_view(outcome.error));
    POSTHORN_TRY(attempt_.run());
    return true;
}

// Most of what a batch brings back; one statement for all of it, whose indexes are opened once.
result<bool> outbox_sql::send_all(std::span<const settlement> run) {
    {
        const reset_at_end reset(pending_count_);
        pending_count_.bind(1, run.front().seq);
        pending_count_.bind(2, run.back().seq);
        POSTHORN_TRY(pending_count_.step());
        if (pending_count_.integer(0) != std::ssize(run)) return false;
    }
    send_many_.bind(1, run.front().seq);
    send_many_.bind(2, run.back().seq);
    send_many_.bind(3, to_ms(run.front().at));
    POSTHORN_TRY(send_many_.run());
    return true;
}

result<std::int64_t> outbox_sql::settle(std::span<const settlement> outcomes, std::int64_t epoch) {
    POSTHORN_TRY(require_epoch(epoch));
    std::array<std::vector<std::int64_t>, 5> settled;  // By outbox_status.
    const auto note = [&](const settlement& one) {
        settled[static_cast<std::size_t>(one.to)].push_back(one.seq);
    };
    for (auto rest = outcomes; !rest.empty();) {
        const auto run = rest.first(sent_in_a_row(rest));
        rest = rest.subspan(run.size());
        POSTHORN_LET(together, run.size() > 1 ? send_all(run) : result<bool>(false));
        for (const auto& one : run) {
            POSTHORN_LET(recorded, together ? result<bool>(true) : record(one));
            if (recorded) note(one);  // Otherwise a person was quicker.
        }
    }
    std::int64_t changed = 0;
    static constexpr std::array<std::string_view, 5> kinds{
        "outbox.retry", "outbox.sent", "outbox.dead", "outbox.expired", "outbox.resolved"};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        changed += std::ssize(settled[i]);
        POSTHORN_TRY(log_->append(kinds[i], std::move(settled[i]), time_->wall()));
    }
    return changed;
}

result<bool> outbox_sql::requeue(const uuid& id) {
    const reset_at_end reset(requeue_);
    requeue_.bind(1, id);
    auto row = requeue_.step();
    if (!row || !*row) return row;
    const std::int64_t seq = requeue_.integer(0);
    POSTHORN_TRY(requeue_.step());  // To its end: only then has it done its work.
    POSTHORN_TRY(order_.place(seq));
    POSTHORN_TRY(log_->append("outbox.requeued", {seq}, time_->wall()));
    return true;
}

result<> outbox_sql::let_go_after(std::int64_t seq) {
    POSTHORN_LET(next, order_.release_next(seq));
    return next ? announce(*next) : result<>{};
}

result<> outbox_sql::let_go(const order_scope& of) {
    POSTHORN_LET(next, order_.release_next(of));
    return next ? announce(*next) : result<>{};
}

// A row that is no message, or not for now, is left to the cold path.
result<> outbox_sql::announce(std::int64_t seq) {
    const reset_at_end reset(one_);
    one_.bind(1, seq);
    one_.bind(2, to_ms(time_->wall()));
    POSTHORN_LET(found, one_.step());
    if (!found) return {};
    auto row = read_row(one_, rules_.source);
    if (!row || !validate(row->body, rules_.limits)) return {};
    released_.push_back(*std::move(row));
    return {};
}

result<> outbox_sql::set_order_policy(order_policy policy) {
    policy_.bind(1, to_string(policy));
    return policy_.run();
}

result<std::int64_t> outbox_sql::release_unblocked(std::span<const std::int64_t> seqs) {
    std::vector<std::int64_t> gone;
    for (const auto seq : seqs) {
        POSTHORN_LET(released, order_.release(seq));
        if (!released) continue;
        gone.push_back(seq);
        POSTHORN_TRY(announce(seq));
    }
    const auto number = std::ssize(gone);
    POSTHORN_TRY(log_->append("outbox.released", std::move(gone), time_->wall()));
    return number;
}

result<bool> outbox_sql::mark_notified(std::int64_t seq) {
    told_.bind(1, seq);
    POSTHORN_TRY(told_.run());
    if (sqlite3_changes(sqlite3_db_handle(told_.handle())) == 0) return false;
    const reset_at_end reset(is_ended_);
    is_ended_.bind(1, seq);
    return is_ended_.step();
}

// Destinations that a person has paused.

result<bool> outbox_sql::pause(const paused_destination& what) {
    pause_.bind(1, std::string_view(what.destination));
    pause_.bind(2, to_ms(what.since));
    pause_.bind(3, std::string_view(what.reason));
    POSTHORN_TRY(pause_.run());
    return sqlite3_changes(sqlite3_db_handle(pause_.handle())) > 0;
}

result<bool> outbox_sql::resume(std::string_view destination) {
    resume_.bind(1, destination);
    POSTHORN_TRY(resume_.run());
    return sqlite3_changes(sqlite3_db_handle(resume_.handle())) > 0;
}

result<std::vector<paused_destination>> outbox_reading::paused() {
    const reset_at_end reset(paused_);
    std::vector<paused_destination> all;
    for (;;) {
        POSTHORN_LET(row, paused_.step());
        if (!row) return all;
        all.push_back({.destination = std::string(paused_.text(0)),
                       .since = from_ms(paused_.integer(1)),
                       .reason = std::string(paused_.text(2))});
    }
}

}  // namespace posthorn::sqlite
