#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "store/migration.hpp"
#include "store/store.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {

[[nodiscard]] table_set webhook_tables() noexcept;

result<> insert_subscription(store_transaction& tx, const subscription& one);
/// False if it is not there.
result<bool> update_subscription(store_transaction& tx, const subscription& one);
result<bool> delete_subscription(store_transaction& tx, const uuid& id);
result<std::optional<subscription>> find_subscription(store_transaction& tx, const uuid& id);

/// All of them, in the order in which they were made.
result<std::vector<subscription>> read_subscriptions(store_reader& from);
/// Another number after every change to a subscription, also by plain SQL; none where a program made
/// of it what cannot be counted on.
result<std::optional<std::int64_t>> read_subscriptions_version(store_reader& from);

/// One attempt to deliver an event.
struct webhook_attempt {
    enum class state : std::uint8_t { pending, success, failed, dead };

    uuid id;
    uuid event;
    uuid subscription;
    std::int32_t number = 1;
    state what = state::failed;
    std::optional<std::int64_t> http_status{};
    std::string answer{};  // Its first 4,000 characters.
    std::string error{};
    std::int64_t took_ms = 0;
    wall_time at{};
};

result<> insert_attempts(store_transaction& tx, std::span<const webhook_attempt> all);
/// Gives the number of rows that went, at most `limit`.
result<std::int64_t> delete_attempts_before(store_transaction& tx, wall_time before,
                                            std::int64_t limit);

}  // namespace posthorn
