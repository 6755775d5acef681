#include "store/postgres/tables/order_keys.hpp"

#include <algorithm>
#include <utility>

#include "store/statements/postgres_parts.hpp"

namespace posthorn::postgres {
namespace {

constexpr auto park_blocked = joined(R"sql(
    UPDATE {s}.outbox_messages AS m SET next_retry_at = expires_at
    WHERE seq = ANY ($1::bigint[]) AND status = 'Pending' AND order_key <> '' AND )sql",
                                     is_blocked, " RETURNING seq");

void add_new(std::vector<order_scope>& to, const std::vector<order_scope>& some) {
    for (const auto& each : some)
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

}  // namespace

order_keys::order_keys(connection& database, services with, outbox_claims& claims)
    : order_rules(database, std::move(with)),
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
