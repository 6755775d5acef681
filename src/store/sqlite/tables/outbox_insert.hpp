#pragma once

#include <cstdint>
#include <string_view>

#include <posthorn/message.hpp>

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

}  // namespace posthorn::sqlite
