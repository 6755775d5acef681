#include "store/postgres/tables/outbox_sql.hpp"

#include <algorithm>
#include <utility>

#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {

outbox_sql::outbox_sql(connection& database, const clock& time,
                       const table_neighbours<driver, order_keys>& others, outbox_claims& claims)
    : outbox_changes(database, time, others),
      claims_(claims),
      insert_(database, outbox_file_sql),
      lock_dedupe_(database, outbox_lock_dedupe_sql),
      send_(database, R"sql(
          UPDATE {s}.outbox_messages AS m
          SET status = 'Sent', sent_at = s.at, last_attempt_at = s.at
          FROM unnest($1::bigint[], $2::bigint[]) AS s(seq, at)
          JOIN {s}.outbox_due AS d USING (seq)
          WHERE m.seq = s.seq AND m.status = 'Pending'
              AND (d.claim_epoch IS NULL OR d.claim_epoch = $3)
          RETURNING m.seq)sql"),
      unsent_(database, R"sql(
          SELECT m.seq FROM {s}.outbox_messages AS m JOIN {s}.outbox_due AS d USING (seq)
          WHERE m.seq = ANY ($1::bigint[]) AND m.status = 'Pending'
              AND (d.claim_epoch IS NULL OR d.claim_epoch = $2)
          LIMIT 1)sql"),
      is_stored_(database, outbox_stored_sql) {}

void outbox_sql::await_others(const message& body) {
    lock_dedupe_.defer(body.destination, body.dedupe_key);
}

result<outbox_sql::inserted_row> outbox_sql::insert_row(const message& body) {
    POSTHORN_LET(stored, insert_.run_with(insert_values(body)));
    if (stored.empty()) {
        POSTHORN_LET(known, is_stored_.run(body.id));
        if (known.empty()) return swallowed("outbox_messages");
        return std::unexpected(duplicate_of(body));
    }
    const auto next_retry_at = stored.front().integer(1);
    const bool due = next_retry_at == 0;  // As the trigger sees it.
    return inserted_row{
        .seq = stored.front().integer(0),
        .parked = !body.order_key.empty() && next_retry_at == to_ms(body.expires_at),
        .claim = due ? claims_as_ : 0};
}

// By far the most outcomes, so all of them in one statement.
result<> outbox_sql::settle_sent(std::span<const settlement> outcomes, std::int64_t epoch,
                                 settled_rows& settled) {
    std::vector<std::int64_t> seqs, times;
    for (const auto& one : outcomes) {
        if (one.to != outbox_status::sent) continue;
        seqs.push_back(one.seq);
        times.push_back(to_ms(one.at));
    }
    if (seqs.empty()) return {};
    POSTHORN_LET(sent, send_.run(seqs, times, epoch));
    auto& done = settled.of(outbox_status::sent);
    for (int i = 0; i < sent.size(); ++i) done.push_back(sent[i].integer(0));
    std::ranges::sort(done);
    if (done.size() < seqs.size()) {  // The rest are another's, or were closed by a person.
        POSTHORN_LET(unsent, unsent_.run(seqs, epoch));
        if (!unsent.empty()) return swallowed("outbox_messages");
    }
    for (const auto& one : outcomes) {
        const bool counts =
            one.to == outbox_status::sent && std::ranges::binary_search(done, one.seq);
        if (counts) POSTHORN_TRY(follow_up(one));
    }
    return {};
}

// Of what is not sent: some of it may be another's, since it was found and not claimed.
result<std::vector<std::int64_t>> outbox_sql::held_of_rest(std::span<const settlement> outcomes,
                                                           std::int64_t epoch) {
    std::vector<std::int64_t> seqs;
    for (const auto& one : outcomes)
        if (one.to != outbox_status::sent) seqs.push_back(one.seq);
    if (seqs.empty()) return seqs;
    return claims_.hold(seqs, epoch);
}

// All of them in one statement: who inserts many of a key at once leaves many to be parked.
result<> outbox_sql::park(std::span<const settlement> outcomes, std::span<const std::int64_t> ours,
                          settled_rows& settled) {
    std::vector<std::int64_t> seqs;
    for (const auto& one : outcomes)
        if (one.parks && std::ranges::binary_search(ours, one.seq)) seqs.push_back(one.seq);
    if (seqs.empty()) return {};
    POSTHORN_LET(parked, beside().keys.park(seqs));
    auto& done = settled.of(outbox_status::pending);
    done.insert(done.end(), parked.begin(), parked.end());
    return {};
}

result<std::int64_t> outbox_sql::settle(std::span<const settlement> outcomes, std::int64_t epoch) {
    POSTHORN_TRY(claims_.require_epoch(epoch));
    settled_rows settled;
    POSTHORN_TRY(settle_sent(outcomes, epoch, settled));
    POSTHORN_LET(ours, held_of_rest(outcomes, epoch));
    POSTHORN_TRY(park(outcomes, ours, settled));
    for (const auto& outcome : outcomes) {
        if (outcome.to == outbox_status::sent || outcome.parks) continue;
        if (!std::ranges::binary_search(ours, outcome.seq)) continue;  // Another node sends it.
        POSTHORN_LET(done, retry_or_close(outcome));
        if (!done) continue;  // A person was quicker.
        settled.add(outcome.to, outcome.seq);
        POSTHORN_TRY(follow_up(outcome));
    }
    return log_settled(std::move(settled));
}

}  // namespace posthorn::postgres
