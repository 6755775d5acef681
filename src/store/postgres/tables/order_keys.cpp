#include "store/postgres/tables/order_keys.hpp"

#include <algorithm>
#include <utility>

#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

constexpr auto is_blocked = joined("{s}.is_blocked(m.destination, m.tenant, m.order_key, m.seq)");

constexpr auto due_row_by_seq = joined("SELECT ", outbox_columns, R"sql(
    FROM {s}.outbox_messages WHERE seq = $1 AND status = 'Pending' AND next_retry_at <= $2)sql");
// A retry that would come past the expiry stands at the expiry too; then it comes sooner.
constexpr auto release_parked = joined(R"sql(
    UPDATE {s}.outbox_messages AS m SET next_retry_at = coalesce(deliver_at, 0)
    WHERE seq = $1 AND status = 'Pending' AND next_retry_at = expires_at
      AND order_key <> '' AND NOT )sql",
                                       is_blocked);
constexpr auto park_blocked = joined(R"sql(
    UPDATE {s}.outbox_messages AS m SET next_retry_at = expires_at
    WHERE seq = ANY ($1::bigint[]) AND status = 'Pending' AND order_key <> '' AND )sql",
                                     is_blocked, " RETURNING seq");
constexpr auto place_pending = joined(R"sql(
    UPDATE {s}.outbox_messages AS m
    SET next_retry_at = CASE WHEN order_key <> '' AND )sql",
                                      is_blocked, R"sql(
        THEN expires_at ELSE coalesce(deliver_at, 0) END
    WHERE seq = $1 AND status = 'Pending')sql");

void add_new(std::vector<order_scope>& to, const std::vector<order_scope>& some) {
    for (const auto& each : some)
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

}  // namespace

order_keys::order_keys(connection& database, services with, outbox_claims& claims)
    : order_rules(database, std::move(with),
                  {.policy = R"sql(
          INSERT INTO {s}.posthorn_meta (name, value)
          VALUES ('order_policy', $1)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql",
                   .scope = R"sql(
          SELECT destination, order_key, coalesce(tenant, '') FROM {s}.outbox_messages
          WHERE seq = $1 AND order_key <> '')sql",
                   .head = R"sql(
          SELECT seq FROM {s}.outbox_due
          WHERE destination = $1 AND order_key = $2 AND tenant = $3
          ORDER BY seq LIMIT 1)sql",
                   .release = release_parked,
                   .place = place_pending,
                   .due_row = due_row_by_seq}),
      claims_(claims),
      lock_key_(database, "SELECT pg_try_advisory_xact_lock({s}.key_lock('o', $1, $2, $3))"),
      park_(database, park_blocked) {}

result<std::vector<std::int64_t>> order_keys::park(std::span<const std::int64_t> seqs) {
    POSTHORN_LET(parked, park_.run(seqs));
    std::vector<std::int64_t> done;
    for (int i = 0; i < parked.size(); ++i) done.push_back(parked[i].integer(0));
    return done;
}

// A producer of the key that has not committed yet believes that the message is in its way. Waiting
// for it could take as long as an application's transaction does, so it is looked for again later.
result<> order_keys::let_go(const order_scope& of) {
    POSTHORN_LET(alone, lock_key_.run(of.destination, of.tenant, of.order_key));
    POSTHORN_LET(has_one, release_first(of));
    if (!has_one && alone.front().integer(0) == 0) add_new(look_again_, {of});
    return {};
}

result<> order_keys::look_again() {
    add_new(looking_, std::exchange(look_again_, {}));
    for (const auto& each : looking_) POSTHORN_TRY(let_go(each));
    return {};
}

void order_keys::look_later() {
    add_new(look_again_, std::exchange(looking_, {}));
    forget_released();
}

void order_keys::claim(outbox_row& row) {
    if (claims_as_ != 0) claims_.claim_one(row.seq, claims_as_);
    row.claim = claims_as_;
}

}  // namespace posthorn::postgres
