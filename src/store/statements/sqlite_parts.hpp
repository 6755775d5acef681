#pragma once

#include "base/text/joined.hpp"
#include "store/rows/dead_rows.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::sqlite {

/// What `read_row` reads.
inline constexpr auto outbox_columns = outbox_columns_with("payload");
/// A column, unless it has more bytes than a number says; no function tells that of a text.
template <class Column, class Most>
consteval auto unless_longer(const Column& column, const Most& most) {
    return joined("CASE WHEN length(CAST(", column, " AS BLOB)) <= ", most, " THEN ", column,
                  " END");
}
inline constexpr auto outbox_row_by_seq =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE seq = ?");

/// What `read_dead_row` reads: all of a message, in whichever state.
inline constexpr auto dead_row_columns =
    joined(summary_columns, ", ", unless_longer("payload", content_bytes_shown_max), ", ",
           unless_longer("headers", content_bytes_shown_max), R"sql(, substr(content_type, 1, 4096),
    (SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),
    (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),
    (SELECT cause FROM outbox_causes WHERE cause_id =
        (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq)))sql");

/// The number of the next line in the history of the message `?1`, beside any that a program wrote
/// there; and what becomes of a line that has it nevertheless.
inline constexpr auto next_attempt = joined(R"sql(coalesce((SELECT max(attempt) FROM outbox_attempts
        WHERE seq = ?1 AND attempt BETWEEN 0 AND 2147483646), 0) + 1)sql");
inline constexpr auto instead_of_attempt = joined(R"sql(
    ON CONFLICT (seq, attempt) DO UPDATE SET at = excluded.at, error = excluded.error)sql");
/// Given the seq, when, and the text; has a condition, so that ON is not read as that of a join.
inline constexpr auto add_attempt = joined(R"sql(
    INSERT INTO outbox_attempts (seq, attempt, at, error)
    SELECT ?1, )sql",
                                           next_attempt, ", ?2, ?3 WHERE true", instead_of_attempt);

inline constexpr auto dead_row_by_id =
    joined("SELECT ", dead_row_columns, " FROM outbox_messages WHERE message_id = ?");
inline constexpr auto dead_row_by_seq =
    joined("SELECT ", dead_row_columns, " FROM outbox_messages WHERE seq = ?");

/// What `fits` reads.
inline constexpr auto dead_key_columns = joined(R"sql(
    outbox_messages.seq, destination, substr(endpoint, 1, 4096), tenant, order_key,
    substr(last_error, 1, 4096), expires_at,
    coalesce((SELECT at FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),
        last_attempt_at, created_at),
    outbox_messages.status,
    (SELECT cause_id FROM outbox_closed WHERE outbox_closed.seq = outbox_messages.seq),
    substr(correlation_id, 1, 65536), substr(causation_id, 1, 64),
    substr(resolution, 1, 64))sql");

}  // namespace posthorn::sqlite
