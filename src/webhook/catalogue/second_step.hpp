#pragma once

#include <array>
#include <string_view>

#include "store/migration.hpp"

namespace posthorn {

/// The second step of the tables of webhooks, in a file: events by time, the catalogue of their
/// types, and the subscriptions under the name of the webhook document.
inline constexpr std::string_view webhook_step_2_in_file = R"sql(
CREATE INDEX IF NOT EXISTS idx_webhook_events ON outbox_messages (created_at, seq)
    WHERE destination = 'webhooks';
CREATE TABLE IF NOT EXISTS webhook_event_types (
    name TEXT NOT NULL PRIMARY KEY,
    description TEXT,
    schema TEXT,
    example TEXT,
    created_at INTEGER NOT NULL
        DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    updated_at INTEGER) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS WebhookSubscriptions AS
    SELECT id AS Id, tenant AS TenantId, event_type AS EventType, url AS WebhookUrl,
        secret AS Secret, state = 'active' AS IsActive, max_retries AS MaxRetries,
        timeout_seconds AS TimeoutSeconds,
        strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS CreatedAt,
        strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS UpdatedAt,
        headers AS CustomHeaders
    FROM webhook_subscriptions;
)sql";

/// The same on a server.
inline constexpr std::string_view webhook_step_2_on_server = R"sql(
CREATE INDEX webhook_events ON {s}.outbox_messages (created_at, seq)
    WHERE destination = 'webhooks';
CREATE TABLE {s}.webhook_event_types (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    description text,
    schema text,
    example text,
    created_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
    updated_at bigint);
CREATE VIEW {s}."WebhookSubscriptions" AS SELECT id AS "Id", tenant AS "TenantId",
    event_type AS "EventType", url AS "WebhookUrl", secret AS "Secret",
    state = 'active' AS "IsActive", max_retries AS "MaxRetries",
    timeout_seconds AS "TimeoutSeconds", {s}.time_of(created_at) AS "CreatedAt",
    {s}.time_of(updated_at) AS "UpdatedAt", headers AS "CustomHeaders"
    FROM {s}.webhook_subscriptions;
)sql";

inline constexpr std::array event_type_columns{
    copied_table::column{"name"},
    copied_table::column{"description", copied_table::column::kind::note},
    copied_table::column{"schema"},
    copied_table::column{"example"},
    copied_table::column{"created_at", copied_table::column::kind::number},
    copied_table::column{"updated_at", copied_table::column::kind::number}};

}  // namespace posthorn
