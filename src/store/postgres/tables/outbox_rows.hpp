#pragma once

#include <string>
#include <string_view>

#include <posthorn/message.hpp>

#include "base/text/joined.hpp"
#include "store/postgres/driver/values.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::postgres {

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
/// Gives a row if nothing was inserted because a message has its id.
inline constexpr std::string_view outbox_stored_sql =
    "SELECT 1 FROM {s}.outbox_messages WHERE message_id = $1";

/// Waits for others that store the same dedupe key just now; what comes after it sees theirs.
inline constexpr std::string_view outbox_lock_dedupe_sql =
    "SELECT pg_advisory_xact_lock({s}.key_lock('d', $1, '', $2)) IS NULL";

}  // namespace posthorn::postgres
