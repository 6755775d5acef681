#pragma once

#include "base/text/joined.hpp"
#include "store/rows/dead_rows.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {

/// As bytes, since text cannot hold all of what a payload may.
inline constexpr auto payload_as_bytes =
    joined("coalesce(payload_bytes, convert_to(payload, 'UTF8'))");
/// What `read_row` reads.
inline constexpr auto outbox_columns = outbox_columns_with(payload_as_bytes);

// Sizes are known without the bytes, which may lie elsewhere.
inline constexpr auto payload_octets =
    joined("coalesce(octet_length(payload_bytes), octet_length(payload), 0)::bigint");
inline constexpr auto headers_octets = joined("coalesce(octet_length(headers), 0)::bigint");
/// All that `outbox_columns` would bring, but for a few numbers.
inline constexpr auto row_octets = joined("(", payload_octets, " + ", headers_octets, R"sql( +
    octet_length(destination) + octet_length(endpoint) + octet_length(content_type) +
    coalesce(octet_length(correlation_id), 0) + coalesce(octet_length(tenant), 0) +
    coalesce(octet_length(order_key), 0) + coalesce(octet_length(dedupe_key), 0) +
    octet_length(message_id) + octet_length(message_type) + coalesce(octet_length(parent_id), 0) +
    coalesce(octet_length(causation_id), 0)))sql");
/// Content, unless it has more bytes than a number says.
template <class Most>
consteval auto payload_unless_longer(const Most& most) {
    return joined("CASE WHEN ", payload_octets, " <= ", most, " THEN ", payload_as_bytes, " END");
}
template <class Most>
consteval auto headers_unless_longer(const Most& most) {
    return joined("CASE WHEN ", headers_octets, " <= ", most, " THEN headers END");
}

/// What `read_dead_row` reads: all of a message, in whichever state. `m` is the row's name.
inline constexpr auto dead_row_columns =
    joined(summary_columns, ", ", payload_unless_longer(content_bytes_shown_max), ", ",
           headers_unless_longer(content_bytes_shown_max), R"sql(, substr(content_type, 1, 4096),
    (SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    (SELECT k.cause FROM {s}.outbox_closed AS c JOIN {s}.outbox_causes AS k USING (cause_id)
     WHERE c.seq = m.seq))sql");

/// What `fits` reads, and no more: a search looks at many rows.
inline constexpr auto dead_key_columns = joined(R"sql(
    m.seq, m.destination, substr(m.endpoint, 1, 4096), m.tenant, m.order_key,
    substr(m.last_error, 1, 4096), m.expires_at,
    coalesce((SELECT c.at FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
        m.last_attempt_at, m.created_at),
    m.status,
    (SELECT c.cause_id FROM {s}.outbox_closed AS c WHERE c.seq = m.seq),
    substr(m.correlation_id, 1, 65536), substr(m.causation_id, 1, 64),
    substr(m.resolution, 1, 64))sql");

/// The number of the next line in the history of the message `$1`, beside any that a program wrote
/// there; and what becomes of a line that has it nevertheless.
inline constexpr auto next_attempt =
    joined(R"sql(coalesce((SELECT max(attempt) FROM {s}.outbox_attempts
        WHERE seq = $1::bigint AND attempt BETWEEN 0 AND 2147483646), 0) + 1)sql");
inline constexpr auto instead_of_attempt = joined(R"sql(
    ON CONFLICT (seq, attempt) DO UPDATE SET at = excluded.at, error = excluded.error)sql");
/// Given the seq, when, and the text.
inline constexpr auto add_attempt =
    joined(R"sql(
    INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
    SELECT $1::bigint, )sql",
           next_attempt, ", $2::bigint, $3::text", instead_of_attempt);

/// Whether an earlier message of its order key is in the way of the row `m`.
inline constexpr auto is_blocked =
    joined("{s}.is_blocked(m.destination, m.tenant, m.order_key, m.seq)");

/// The lease, unless another transaction has it locked: a node may be frozen in one, and no other
/// waits for that.
inline constexpr auto unlocked_lease =
    joined("(SELECT name FROM {s}.posthorn_leases WHERE name = $1 FOR UPDATE SKIP LOCKED)");

}  // namespace posthorn::postgres
