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

order_keys::order_keys(connection& database, const services& with)
    : with_(with),
      one_(database, due_row_by_seq),
      policy_(database, R"sql(
          INSERT INTO {s}.posthorn_meta (name, value)
          VALUES ('order_policy', $1)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql"),
      scope_(database, R"sql(
          SELECT destination, order_key, coalesce(tenant, '') FROM {s}.outbox_messages
          WHERE seq = $1 AND order_key <> '')sql"),
      lock_key_(database, "SELECT pg_try_advisory_xact_lock({s}.key_lock('o', $1, $2, $3))"),
      head_(database, R"sql(
          SELECT seq FROM {s}.outbox_due
          WHERE destination = $1 AND order_key = $2 AND tenant = $3
          ORDER BY seq LIMIT 1)sql"),
      release_(database, release_parked),
      park_(database, park_blocked),
      place_(database, place_pending) {}

result<> order_keys::set_policy(order_policy policy) {
    POSTHORN_TRY(policy_.run(to_string(policy)));
    return {};
}

result<> order_keys::place(std::int64_t seq) {
    POSTHORN_TRY(place_.run(seq));
    return {};
}

result<std::vector<std::int64_t>> order_keys::park(std::span<const std::int64_t> seqs) {
    POSTHORN_LET(parked, park_.run(seqs));
    std::vector<std::int64_t> done;
    for (int i = 0; i < parked.size(); ++i) done.push_back(parked[i].integer(0));
    return done;
}

result<> order_keys::let_go_after(std::int64_t seq) {
    POSTHORN_LET(scope, scope_.run(seq));
    if (scope.empty()) return {};
    const auto row = scope.front();
    return let_go({.destination = std::string(row.text(0)),
                   .order_key = std::string(row.text(1)),
                   .tenant = std::string(row.text(2))});
}

// A producer of the key that has not committed yet believes that the message is in its way. Waiting
// for it could take as long as an application's transaction does, so it is looked for again later.
result<> order_keys::let_go(const order_scope& of) {
    POSTHORN_LET(alone, lock_key_.run(of.destination, of.tenant, of.order_key));
    POSTHORN_LET(head, head_.run(of.destination, of.order_key, of.tenant));
    if (head.empty()) {
        if (alone.front().integer(0) == 0) add_new(look_again_, {of});
        return {};
    }
    const auto seq = head.front().integer(0);
    POSTHORN_LET(released, release_.run(seq));
    return released.changed() > 0 ? announce(seq) : result<>{};
}

result<> order_keys::look_again() {
    add_new(looking_, std::exchange(look_again_, {}));
    for (const auto& each : looking_) POSTHORN_TRY(let_go(each));
    return {};
}

void order_keys::look_later() {
    add_new(look_again_, std::exchange(looking_, {}));
    released_.clear();
}

// A row that is no message, or not for now, is left to the cold path.
result<> order_keys::announce(std::int64_t seq) {
    POSTHORN_LET(found, one_.run(seq, to_ms(with_.time.wall())));
    if (found.empty()) return {};
    auto row = read_row(found.front(), with_.rules.source);
    if (!row || !validate(row->body, with_.rules.limits)) return {};
    if (claims_as_ != 0) with_.claims.claim_one(seq, claims_as_);
    row->claim = claims_as_;
    released_.push_back(*std::move(row));
    return {};
}

result<std::int64_t> order_keys::release_unblocked(std::span<const std::int64_t> seqs) {
    std::vector<std::int64_t> gone;
    for (const auto seq : seqs) {
        POSTHORN_LET(released, release_.run(seq));
        if (released.changed() == 0) continue;
        gone.push_back(seq);
        POSTHORN_TRY(announce(seq));
    }
    const auto number = std::ssize(gone);
    POSTHORN_TRY(with_.log.append("outbox.released", std::move(gone), with_.time.wall()));
    return number;
}

}  // namespace posthorn::postgres
