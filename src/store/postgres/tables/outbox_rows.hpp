#pragma once

#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "store/postgres/driver/values.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"

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

/// The one INSERT behind all ways in that go through Posthorn. Gives no row if the id is there.
inline constexpr auto outbox_insert_sql = joined(R"sql(
    INSERT INTO {s}.outbox_messages (message_id, correlation_id, message_type, destination,
        endpoint, payload, payload_bytes, headers, max_retries, next_retry_at, created_at,
        expires_at, deliver_at, parent_id, causation_id, tenant, order_key, dedupe_key, priority,
        content_type, checksum)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21)
    ON CONFLICT (message_id) DO NOTHING RETURNING seq, next_retry_at)sql");
/// The same by a node, whose the message is from then on. One with an order key has its row in
/// outbox_due already.
inline constexpr auto outbox_file_sql = joined("WITH stored AS (", outbox_insert_sql, R"sql(,
        status, destination, tenant, priority, expires_at),
    filed AS (INSERT INTO {s}.outbox_due
            (seq, destination, tenant, priority, next_retry_at, expires_at, claim_epoch)
        SELECT seq, destination, coalesce(tenant, ''), priority, next_retry_at, expires_at,
            CASE WHEN next_retry_at = 0 THEN {s}.claimant() END
        FROM stored WHERE status = 'Pending' AND $17 IS NULL)
    SELECT seq, next_retry_at FROM stored)sql");
[[nodiscard]] values insert_values(const message& body);
/// As text, or else as bytes: two values, of which one is NULL. Refers to the payload.
void add_payload(values& to, std::string_view payload);
/// What comes back if nothing was inserted because a message has its id.
[[nodiscard]] error duplicate_of(const message& body);
inline constexpr std::string_view outbox_stored_sql =
    "SELECT 1 FROM {s}.outbox_messages WHERE message_id = $1";

/// Waits for others that store the same dedupe key just now; what comes after it sees theirs.
inline constexpr std::string_view outbox_lock_dedupe_sql =
    "SELECT pg_advisory_xact_lock({s}.key_lock('d', $1, '', $2)) IS NULL";
/// The message that had a destination's dedupe key first.
inline constexpr std::string_view outbox_known_sql = R"sql(
    SELECT seq, message_id FROM {s}.outbox_messages
    WHERE destination = $1 AND dedupe_key = $2
    ORDER BY seq LIMIT 1)sql";
/// What that row says.
[[nodiscard]] result<enqueued> known_message(const sql_row& row);

}  // namespace posthorn::postgres
