#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/migration.hpp"
#include "store/store.hpp"
#include "transport/broker/broker_consumer.hpp"

namespace posthorn {

/// A message that a broker gave and that took no effect: the inbox's dead letter.
struct consumed_dead {
    std::int64_t seq = 0;
    std::string source{};      // The source's name in [consume].
    std::string message_id{};  // As its sender wrote it.
    std::string endpoint{};    // As far as it says one.
    std::string reason{};
    std::uint32_t deliveries = 0;
    wall_time dead_at{};
    std::int64_t payload_size = 0;
    std::optional<received_message> whole{};  // Where it was asked for.
};

struct consumed_dead_filter {
    std::string source{};  // Of all if empty.
    std::int64_t after = 0;
    std::int64_t limit = 100;
};

/// Puts one aside. The same message again, as a broker gives it that was not told, is there already
/// and stays as it is; one that nothing tells from others is put aside each time.
result<> put_aside(store_transaction& tx, std::string_view source, const received_message& what,
                   std::string_view reason, wall_time now);
/// In the order in which they came.
[[nodiscard]] result<std::vector<consumed_dead>> list_put_aside(store_reader& from,
                                                                const consumed_dead_filter& which);
[[nodiscard]] result<std::optional<consumed_dead>> find_put_aside(store_reader& from,
                                                                  std::int64_t seq);
/// Of each source that has any, how many.
[[nodiscard]] result<std::vector<std::pair<std::string, std::int64_t>>> count_put_aside(
    store_reader& from);
/// False if it is gone already.
result<bool> forget_put_aside(store_transaction& tx, std::int64_t seq);

[[nodiscard]] table_set consume_tables() noexcept;

}  // namespace posthorn
