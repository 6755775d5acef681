#include "store/sqlite/tables/order_keys.hpp"

#include <utility>

namespace posthorn::sqlite {
namespace {

constexpr auto park_blocked = joined(R"sql(
    UPDATE outbox_messages AS follower SET next_retry_at = expires_at
    WHERE seq = ? AND status = 'Pending' AND order_key <> '' AND )sql",
                                     follower_is_blocked);

}  // namespace

order_keys::order_keys(connection& database, services with)
    : order_rules(database, std::move(with)),
      is_blocked_(database, ask_blocked),
      park_(database, park_blocked) {}

result<bool> order_keys::park(std::int64_t seq) {
    POSTHORN_LET(parked, park_.run(seq));
    return parked.changed() != 0;
}

result<bool> run_ask_blocked(statement& asked, std::int64_t seq) {
    POSTHORN_LET(found, asked.run(seq));
    return !found.empty() && found.front().integer(0) != 0;
}

}  // namespace posthorn::sqlite
