#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <posthorn/message.hpp>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Stores a message as a pending row; the one INSERT behind all ways in that go through Posthorn.
inline constexpr std::string_view outbox_insert_sql = R"sql(
    INSERT INTO outbox_messages (message_id, correlation_id, message_type, destination, endpoint,
        payload, headers, max_retries, next_retry_at, created_at, expires_at, deliver_at,
        parent_id, causation_id, tenant, order_key, dedupe_key, priority, content_type, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

/// Runs it; gives the row's `seq`. An id that is there is `error_code::duplicate_id`.
result<std::int64_t> insert_message(statement& insert, const message& body);

/// The message that had a destination's dedupe key first.
inline constexpr std::string_view outbox_known_sql = R"sql(
    SELECT seq, message_id FROM outbox_messages WHERE destination = ? AND dedupe_key = ?
    ORDER BY seq LIMIT 1)sql";

/// Runs it for a message with a dedupe key; empty if the key is new.
result<std::optional<enqueued>> find_known(statement& known, const message& body);

}  // namespace posthorn::sqlite
