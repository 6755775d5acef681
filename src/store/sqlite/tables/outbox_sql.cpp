#include "store/sqlite/tables/outbox_sql.hpp"

#include <array>

#include "base/planted.hpp"
#include "store/rows/or_null.hpp"
#include "store/rows/stored_time.hpp"
#include "store/sqlite/tables/outbox_columns.hpp"
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

constexpr auto due_row_by_seq =
    joined("SELECT ", outbox_columns,
           " FROM outbox_messages WHERE seq = ?1 AND status = 'Pending' AND next_retry_at <= ?2");

}  // namespace

outbox_sql::outbox_sql(connection& database, const clock& time, outbox_rules rules,
                       const neighbours& others)
    : time_(time),
      log_(others.log),
      closed_(others.closed),
      room_(others.room),
      rules_(std::move(rules)),
      order_(database),
      insert_(database, outbox_insert_sql),
      known_(database, outbox_known_sql),
      one_(database, due_row_by_seq),
      policy_(database, "REPLACE INTO posthorn_meta (name, value) VALUES ('order_policy', ?)"),
      send_(database, R"sql(
          UPDATE outbox_messages SET status = 'Sent', sent_at = ?2, last_attempt_at = ?2
          WHERE seq = ?1 AND status = 'Pending')sql"),
      // By the number alone: the rows lie side by side, whatever an index could find.
      send_many_(database, R"sql(
          UPDATE outbox_messages NOT INDEXED
          SET status = 'Sent', sent_at = ?3, last_attempt_at = ?3
          WHERE seq BETWEEN ?1 AND ?2 AND status = 'Pending')sql"),
      pending_count_(database, R"sql(
          SELECT count(*) FROM outbox_messages NOT INDEXED
          WHERE seq BETWEEN ?1 AND ?2 AND status = 'Pending')sql"),
      close_(database, R"sql(
          UPDATE outbox_messages SET status = ?2, retry_count = retry_count + ?3,
              last_attempt_at = CASE WHEN ?3 THEN ?4 ELSE last_attempt_at END,
              last_error = coalesce(?5 || CASE WHEN ?7 THEN '; last: ' || last_error END, ?5,
                  last_error),
              resolution = ?6
          WHERE seq = ?1 AND status = 'Pending')sql"),
      retry_(database, R"sql(
          UPDATE outbox_messages SET retry_count = retry_count + ?2, next_retry_at = ?3,
              last_attempt_at = ?4, last_error = coalesce(?5, last_error)
          WHERE seq = ?1 AND status = 'Pending')sql"),
      // Numbered over all rounds: a requeued message keeps its earlier attempts.
      attempt_(database, R"sql(
          INSERT INTO outbox_attempts (seq, attempt, at, error)
          SELECT ?1, coalesce((SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1,
              ?2, ?3)sql"),
      epoch_(database, "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"),
      requeue_(database, R"sql(
          UPDATE outbox_messages SET status = 'Pending', retry_count = 0
          WHERE message_id = ? AND status = 'Dead' RETURNING seq)sql"),
      pause_(database, R"sql(
          INSERT OR IGNORE INTO outbox_paused (destination, paused_at, reason)
          VALUES (?, ?, ?))sql"),
      resume_(database, "DELETE FROM outbox_paused WHERE destination = ?"),
      end_(database, "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)"),
      told_(database, "DELETE FROM outbox_ended WHERE seq = ?"),
      is_ended_(database, R"sql(
          SELECT 1 FROM outbox_messages
          WHERE seq = ? AND status IN ('Dead', 'Expired'))sql") {}

result<enqueued> outbox_sql::insert(message&& body) {
    if (!body.dedupe_key.empty()) {
        POSTHORN_LET(known, find_known(known_, body));
        if (known) return *known;
    }
    POSTHORN_TRY(room_.require_room());
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
    POSTHORN_LET(found, epoch_.run());
    if (POSTHORN_PLANTED(lease_without_epoch)) return {};
    if (!found.empty() && found.front().integer(0) == epoch) return {};
    return fail(error_code::lease_lost, "epoch {} is over; another node dispatches this outbox now",
                epoch);
}

result<bool> outbox_sql::settle_one(const settlement& one) {
    if (one.parks) return order_.park(one.seq);
    const auto update = [&] {
        switch (one.to) {
            case outbox_status::sent: return send_.run(one.seq, to_ms(one.at));
            case outbox_status::pending:
                return retry_.run(one.seq, one.charged, to_ms(one.next_attempt_at), to_ms(one.at),
                                  or_null(one.error));
            default:
                return close_.run(one.seq, to_string(one.to), one.charged, to_ms(one.at),
                                  or_null(one.error), or_null(one.resolution),
                                  one.keeps_last_error);
        }
    };
    POSTHORN_LET(updated, update());
    return updated.changed() > 0;
}

result<bool> outbox_sql::record(const settlement& outcome) {
    POSTHORN_LET(settled, settle_one(outcome));
    if (!settled) return false;
    const bool given_up = outcome.to != outbox_status::sent && outcome.to != outbox_status::pending;
    if (given_up) POSTHORN_TRY(closed_.record(outcome.seq, outcome.to, outcome.at));
    if (given_up || (outcome.to == outbox_status::sent && outcome.followers_wait))
        POSTHORN_TRY(let_go_after(outcome.seq));
    if (outcome.to == outbox_status::dead || outcome.to == outbox_status::expired)
        POSTHORN_TRY(end_.run(outcome.seq));
    if (!outcome.charged || outcome.error.empty()) return true;
    POSTHORN_TRY(attempt_.run(outcome.seq, to_ms(outcome.at), outcome.error));
    return true;
}

// Most of what a batch brings back; one statement for all of it, whose indexes are opened once.
result<bool> outbox_sql::send_all(std::span<const settlement> run) {
    {
        POSTHORN_LET(counted, pending_count_.run(run.front().seq, run.back().seq));
        if (counted.front().integer(0) != std::ssize(run)) return false;
    }
    POSTHORN_TRY(send_many_.run(run.front().seq, run.back().seq, to_ms(run.front().at)));
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
        POSTHORN_TRY(log_.append(kinds[i], std::move(settled[i]), time_.wall()));
    }
    return changed;
}

result<bool> outbox_sql::requeue(const uuid& id) {
    std::optional<std::int64_t> seq;
    POSTHORN_LET(requeued, requeue_.run(id));
    POSTHORN_TRY(requeued.each([&](const sql_row& row) { seq = row.integer(0); }));
    if (!seq) return false;
    POSTHORN_TRY(order_.place(*seq));
    POSTHORN_TRY(log_.append("outbox.requeued", {*seq}, time_.wall()));
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
    POSTHORN_LET(found, one_.run(seq, to_ms(time_.wall())));
    if (found.empty()) return {};
    auto row = read_row(found.front(), rules_.source);
    if (!row || !validate(row->body, rules_.limits)) return {};
    released_.push_back(*std::move(row));
    return {};
}

result<> outbox_sql::set_order_policy(order_policy policy) {
    POSTHORN_TRY(policy_.run(to_string(policy)));
    return {};
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
    POSTHORN_TRY(log_.append("outbox.released", std::move(gone), time_.wall()));
    return number;
}

result<bool> outbox_sql::mark_notified(std::int64_t seq) {
    POSTHORN_LET(told, told_.run(seq));
    if (told.changed() == 0) return false;
    POSTHORN_LET(ended, is_ended_.run(seq));
    return !ended.empty();
}

// Destinations that a person has paused.

result<bool> outbox_sql::pause(const paused_destination& what) {
    POSTHORN_LET(paused, pause_.run(what.destination, to_ms(what.since), what.reason));
    return paused.changed() > 0;
}

result<bool> outbox_sql::resume(std::string_view destination) {
    POSTHORN_LET(resumed, resume_.run(destination));
    return resumed.changed() > 0;
}

}  // namespace posthorn::sqlite
