#include "store/sqlite/tables/outbox_sql.hpp"

#include "base/planted.hpp"
#include "store/rows/stored_time.hpp"
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

outbox_sql::outbox_sql(connection& database, const clock& time,
                       const table_neighbours<driver, order_keys>& others, const file_care& file)
    : outbox_changes(database, time, others),
      room_(file.room),
      insert_(database, outbox_insert_sql),
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
      epoch_(database, "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'") {}

result<outbox_sql::inserted_row> outbox_sql::insert_row(const message& body) {
    POSTHORN_TRY(room_.require_room());
    POSTHORN_LET(seq, insert_message(insert_, body));
    inserted_row stored{.seq = seq};
    if (!body.order_key.empty() && !POSTHORN_PLANTED(order_forgotten)) {
        POSTHORN_LET(blocked, beside().keys.is_blocked(seq));
        stored.parked = blocked;
    }
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
    if (one.parks) return beside().keys.park(one.seq);
    if (one.to != outbox_status::sent) return retry_or_close(one);
    POSTHORN_LET(sent, send_.run(one.seq, to_ms(one.at)));
    if (sent.changed() > 0) return true;
    POSTHORN_TRY(require_done(one.seq));
    return false;
}

result<bool> outbox_sql::record(const settlement& outcome) {
    POSTHORN_LET(settled, settle_one(outcome));
    if (!settled) return false;
    POSTHORN_TRY(follow_up(outcome));
    return true;
}

// Most of what a batch brings back; one statement for all of it, whose indexes are opened once.
result<bool> outbox_sql::send_all(std::span<const settlement> run) {
    {
        POSTHORN_LET(counted, pending_count_.run(run.front().seq, run.back().seq));
        if (counted.front().integer(0) != std::ssize(run)) return false;
    }
    POSTHORN_LET(sent, send_many_.run(run.front().seq, run.back().seq, to_ms(run.front().at)));
    if (sent.changed() != std::ssize(run)) return swallowed("outbox_messages");
    return true;
}

result<std::int64_t> outbox_sql::settle(std::span<const settlement> outcomes, std::int64_t epoch) {
    POSTHORN_TRY(require_epoch(epoch));
    settled_rows settled;
    for (auto rest = outcomes; !rest.empty();) {
        const auto run = rest.first(sent_in_a_row(rest));
        rest = rest.subspan(run.size());
        POSTHORN_LET(together, run.size() > 1 ? send_all(run) : result<bool>(false));
        for (const auto& one : run) {
            POSTHORN_LET(recorded, together ? result<bool>(true) : record(one));
            if (recorded) settled.add(one.to, one.seq);  // Otherwise a person was quicker.
        }
    }
    return log_settled(std::move(settled));
}

}  // namespace posthorn::sqlite
