#pragma once

#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "store/postgres/driver/values.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::postgres {

/// As bytes, since text cannot hold all of what a payload may.
#define POSTHORN_PG_PAYLOAD "coalesce(payload_bytes, convert_to(payload, 'UTF8'))"
#define POSTHORN_PG_OUTBOX_COLUMNS POSTHORN_OUTBOX_COLUMNS_WITH(POSTHORN_PG_PAYLOAD)

/// The columns that `read_summary` reads.
#define POSTHORN_PG_SUMMARY_COLUMNS                                                             \
    "seq, message_id, message_type, destination, endpoint, status, retry_count, max_retries,"   \
    " created_at, expires_at, next_retry_at, deliver_at, last_attempt_at, sent_at, last_error," \
    " resolution, correlation_id, tenant, order_key"

/// The one INSERT behind all ways in that go through Posthorn. Gives no row if the id is there.
#define POSTHORN_PG_INSERT                                                                       \
    "INSERT INTO {s}.outbox_messages (message_id, correlation_id, message_type, destination,"    \
    " endpoint, payload, payload_bytes, headers, max_retries, next_retry_at, created_at,"        \
    " expires_at, deliver_at, parent_id, causation_id, tenant, order_key, dedupe_key, priority," \
    " content_type, checksum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"   \
    " $14, $15, $16, $17, $18, $19, $20, $21) ON CONFLICT (message_id) DO NOTHING"               \
    " RETURNING seq, next_retry_at"
inline constexpr std::string_view outbox_insert_sql = POSTHORN_PG_INSERT;
/// The same by a node, whose the message is from then on. One with an order key has its row in
/// outbox_due already.
inline constexpr std::string_view outbox_file_sql =
    "WITH stored AS (" POSTHORN_PG_INSERT
    ", status, destination, tenant, priority, expires_at), filed AS (INSERT INTO {s}.outbox_due"
    " (seq, destination, tenant, priority, next_retry_at, expires_at, claim_epoch) SELECT seq,"
    " destination, coalesce(tenant, ''), priority, next_retry_at, expires_at, CASE WHEN"
    " next_retry_at = 0 THEN {s}.claimant() END FROM stored WHERE status = 'Pending'"
    " AND $17 IS NULL) SELECT seq, next_retry_at FROM stored";
[[nodiscard]] values insert_values(const message& body);
/// As text, or else as bytes: two values, of which one is NULL. Refers to the payload.
void add_payload(values& to, std::string_view payload);
/// What comes back if nothing was inserted.
[[nodiscard]] error duplicate_of(const message& body);

/// Waits for whoever stores the same dedupe key just now; what comes after it sees that one's.
inline constexpr std::string_view outbox_lock_dedupe_sql =
    "SELECT pg_advisory_xact_lock({s}.key_lock('d', $1, '', $2)) IS NULL";
/// The message that had a destination's dedupe key first.
inline constexpr std::string_view outbox_known_sql =
    "SELECT seq, message_id FROM {s}.outbox_messages WHERE destination = $1 AND dedupe_key = $2"
    " ORDER BY seq LIMIT 1";
/// What that row says.
[[nodiscard]] result<enqueued> known_message(const sql_row& row);

/// Text as PostgreSQL can hold it: UTF-8 without zero bytes.
[[nodiscard]] std::string storable(std::string_view text);

}  // namespace posthorn::postgres
