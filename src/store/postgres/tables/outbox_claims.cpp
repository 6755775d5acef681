#include "store/postgres/tables/outbox_claims.hpp"

#include <algorithm>
#include <utility>

namespace posthorn::postgres {
namespace {

constexpr auto hold_unclaimed = joined(R"sql(
    SELECT seq FROM {s}.outbox_due AS d WHERE seq = ANY ($1::bigint[]) AND )sql",
                                       is_unclaimed("$2"), " ORDER BY seq FOR UPDATE");

}  // namespace

outbox_claims::outbox_claims(connection& database, const outbox_rules& rules)
    : flows_(database),
      due_(database, flows_),
      page_(database, rules),
      epoch_(database, R"sql(
          SELECT epoch FROM {s}.posthorn_leases
          WHERE epoch = $1 AND owner IS NOT NULL AND (name = 'dispatcher' OR name LIKE
              'dispatcher/%')
          FOR SHARE)sql"),
      take_in_(database, R"sql(
          SELECT is_more, {s}.odd_arrival()
          FROM {s}.take_in($1, $2, $3::text[]) AS is_more)sql"),
      claim_(database, R"sql(
          UPDATE {s}.outbox_due SET claim_epoch = $2
          WHERE seq = ANY ($1::bigint[]) AND claim_epoch IS DISTINCT FROM $2)sql"),
      remove_(database, R"sql(
          DELETE FROM {s}.outbox_due AS d
          WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m
              WHERE m.seq = d.seq AND m.status = 'Pending'))sql"),
      hold_(database, hold_unclaimed),
      let_go_(database, R"sql(
          UPDATE {s}.outbox_due SET claim_epoch = NULL
          WHERE seq = ANY ($1::bigint[]) AND claim_epoch = $2)sql"),
      seats_(database, R"sql(
          SELECT name, owner, epoch, beat FROM {s}.posthorn_leases
          WHERE owner IS NOT NULL AND name LIKE 'dispatcher/%')sql") {}

result<> outbox_claims::require_epoch(std::int64_t epoch) {
    POSTHORN_LET(held, epoch_.run(epoch));
    if (!held.empty()) return {};
    return fail(error_code::lease_lost, "epoch {} is over; another node dispatches this outbox now",
                epoch);
}

result<outbox_page> outbox_claims::claim(const due_question& asked, std::int64_t epoch) {
    POSTHORN_TRY(require_epoch(epoch));
    POSTHORN_LET(chosen, due_.choose_unclaimed(asked, epoch));
    if (!chosen.seqs.empty()) claim_.defer(chosen.seqs, epoch);
    auto page = page_.read(chosen, asked.bytes_max);
    if (page) remove_idle(chosen, *page);
    return page;
}

void outbox_claims::remove_idle(const chosen_rows& chosen, const outbox_page& found) {
    if (found.rows.size() + found.bad.size() + found.parked.size() == chosen.seqs.size()) return;
    auto idle = chosen.seqs;
    std::ranges::sort(idle);
    const auto drop = [&idle](std::int64_t seq) {
        const auto place = std::ranges::lower_bound(idle, seq);
        if (place != idle.end() && *place == seq) idle.erase(place);
    };
    for (const auto& one : found.rows) drop(one.seq);
    for (const auto& one : found.bad) drop(one.seq);
    for (const auto& one : found.parked) drop(one.seq);
    remove_.defer(idle);
}

result<taken_in> outbox_claims::take_in(const arrivals_question& asked) {
    if (!asked.claimed.empty()) POSTHORN_TRY(require_epoch(asked.epoch));
    POSTHORN_LET(
        taken, take_in_.run(static_cast<std::int64_t>(asked.rows_max), asked.epoch, asked.claimed));
    const auto row = taken.front();
    return taken_in{.is_more = row.integer(0) != 0,
                    .odd = row.is_null(1) ? std::string() : std::string(row.text(1))};
}

void outbox_claims::claim_one(std::int64_t seq, std::int64_t epoch) {
    claim_.defer(std::vector<std::int64_t>{seq}, epoch);
}

result<std::vector<std::int64_t>> outbox_claims::hold(std::span<const std::int64_t> seqs,
                                                      std::int64_t epoch) {
    POSTHORN_LET(found, hold_.run(seqs, epoch));
    std::vector<std::int64_t> held;
    for (int i = 0; i < found.size(); ++i) held.push_back(found[i].integer(0));
    return held;
}

result<> outbox_claims::let_go(std::span<const std::int64_t> seqs, std::int64_t epoch) {
    let_go_.defer(seqs, epoch);
    return {};
}

result<std::vector<seat>> outbox_claims::seats() {
    POSTHORN_LET(found, seats_.run());
    std::vector<seat> all;
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        all.push_back({.name = std::string(row.text(0)),
                       .held = {.owner = std::string(row.text(1)),
                                .epoch = row.integer(2),
                                .beat = row.integer(3)}});
    }
    return all;
}

}  // namespace posthorn::postgres
