#pragma once

#include <optional>
#include <string_view>

#include "store/dead_letters.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/summary.hpp"

namespace posthorn::sqlite {

/// What `read_dead_row` reads: all of a message, in whichever state.
#define POSTHORN_DEAD_ROW                                                                    \
    POSTHORN_SUMMARY_COLUMNS                                                                 \
    ", payload, headers, content_type,"                                                      \
    " (SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),"         \
    " (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),"   \
    " (SELECT cause FROM outbox_causes WHERE cause_id = (SELECT cause_id FROM outbox_closed" \
    "  WHERE outbox_closed.seq = outbox_messages.seq))"
inline constexpr std::size_t payload_column = summary_columns;

[[nodiscard]] dead_letter_row read_dead_row(const sql_row& row);

/// What `fits` reads, and no more: a search looks at many rows.
#define POSTHORN_DEAD_KEYS                                                                    \
    "outbox_messages.seq, destination, endpoint, tenant, order_key, last_error, expires_at,"  \
    " coalesce((SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq)," \
    "  last_attempt_at, created_at),"                                                         \
    " outbox_messages.status,"                                                                \
    " (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq)"
inline constexpr std::size_t order_key_column = 4;
inline constexpr std::size_t expires_at_column = 6;
inline constexpr std::size_t status_column = 8;

[[nodiscard]] bool fits(const sql_row& keys, const dead_filter& wanted);

}  // namespace posthorn::sqlite
