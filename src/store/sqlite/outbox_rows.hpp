#pragma once

#include <string>

#include "store/outbox_table.hpp"
#include "store/sqlite/connection.hpp"

namespace posthorn::sqlite {

/// What `read_row` wants to find in a row, in this order.
#define POSTHORN_OUTBOX_COLUMNS                                                             \
    "seq, message_id, message_type, destination, endpoint, payload, content_type, headers," \
    " correlation_id, tenant, order_key, dedupe_key, parent_id, causation_id, priority,"    \
    " max_retries, created_at, expires_at, deliver_at, retry_count"
inline constexpr std::size_t outbox_columns = 20;

/// The message in a row, or why it is none. `source` is the service's own id.
result<outbox_row> read_row(const statement& row, const std::string& source);
/// Enough to tell people of a row that is no message.
outbox_row read_what_can_be(const statement& row, const std::string& source);

}  // namespace posthorn::sqlite
