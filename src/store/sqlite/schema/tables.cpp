// The tables of the store. Names of columns are those of the messaging document; times are integer
// UTC milliseconds. Nothing here needs a function that plain SQLite lacks, so that any program can
// insert a message.
#include <array>

#include "store/sqlite/schema/migrate.hpp"
#include "store/sqlite/schema/tables_dispatch.hpp"
#include "store/sqlite/schema/tables_views.hpp"
#include "store/statements/sqlite_defaults.hpp"

namespace posthorn::sqlite {
namespace {

// A producer that binds bytes where text belongs, as Python does with `bytes`, learns it at once: a
// BLOB equals no text, so such a message would never be looked for. The constraint's name is in the
// error.
constexpr auto first = joined(R"sql(
CREATE TABLE IF NOT EXISTS outbox_messages (
    -- The next number is one more than the highest ever, so the last one there is would be the end.
    seq INTEGER PRIMARY KEY AUTOINCREMENT
        CONSTRAINT seq_in_range CHECK (seq BETWEEN 1 AND 4611686018427387903),
    message_id TEXT NOT NULL
        CONSTRAINT message_id_is_text CHECK (typeof(message_id) = 'text')
        UNIQUE DEFAULT )sql",
                              new_id, R"sql(,
    correlation_id TEXT
        CONSTRAINT correlation_id_is_text CHECK (typeof(correlation_id) IN ('text', 'null')),
    message_type TEXT NOT NULL
        CONSTRAINT message_type_is_text CHECK (typeof(message_type) = 'text') DEFAULT 'Signal',
    destination TEXT NOT NULL
        CONSTRAINT destination_is_text CHECK (typeof(destination) = 'text'),
    endpoint TEXT NOT NULL CONSTRAINT endpoint_is_text CHECK (typeof(endpoint) = 'text'),
    payload TEXT NOT NULL,  -- Or a BLOB: it is bytes to us.
    headers TEXT CONSTRAINT headers_is_text CHECK (typeof(headers) IN ('text', 'null')),
    -- Not a list, here or in what follows: of more than two SQLite makes a table of its own, anew
    -- for every row that it looks at.
    status TEXT NOT NULL DEFAULT 'Pending'
        CHECK (status = 'Pending' OR status = 'Sent' OR status = 'Dead' OR status = 'Expired'
            OR status = 'Resolved'),
    retry_count INTEGER NOT NULL DEFAULT 0 CHECK (typeof(retry_count) = 'integer'),
    max_retries INTEGER NOT NULL DEFAULT 5 CHECK (typeof(max_retries) = 'integer'),
    next_retry_at INTEGER NOT NULL DEFAULT 0 CHECK (typeof(next_retry_at) = 'integer'),
    last_attempt_at INTEGER CHECK (typeof(last_attempt_at) IN ('integer', 'null')),
    last_error TEXT,
    created_at INTEGER NOT NULL DEFAULT )sql",
                              now_ms, R"sql(
        CHECK (typeof(created_at) = 'integer'),
    expires_at INTEGER NOT NULL DEFAULT ()sql",
                              now_ms, R"sql( + 86400000)
        CHECK (typeof(expires_at) = 'integer' AND expires_at > 0),
    sent_at INTEGER CHECK (typeof(sent_at) IN ('integer', 'null')),
    deliver_at INTEGER CHECK (typeof(deliver_at) IN ('integer', 'null')),
    parent_id TEXT CONSTRAINT parent_id_is_text CHECK (typeof(parent_id) IN ('text', 'null')),
    causation_id TEXT
        CONSTRAINT causation_id_is_text CHECK (typeof(causation_id) IN ('text', 'null')),
    tenant TEXT CONSTRAINT tenant_is_text CHECK (typeof(tenant) IN ('text', 'null')),
    order_key TEXT CONSTRAINT order_key_is_text CHECK (typeof(order_key) IN ('text', 'null')),
    dedupe_key TEXT CONSTRAINT dedupe_key_is_text CHECK (typeof(dedupe_key) IN ('text', 'null')),
    priority INTEGER NOT NULL DEFAULT 0 CHECK (typeof(priority) = 'integer'),
    content_type TEXT NOT NULL
        CONSTRAINT content_type_is_text CHECK (typeof(content_type) = 'text')
        DEFAULT 'application/json',
    resolution TEXT
);

-- What a plain-SQL producer need not know: ids are stored in one form, so that they are found
-- again, and a message is not due before its time.
CREATE TRIGGER IF NOT EXISTS outbox_id_form AFTER INSERT ON outbox_messages
WHEN length(NEW.message_id) = 32 OR NEW.message_id <> lower(NEW.message_id) BEGIN
    UPDATE outbox_messages SET message_id = lower(CASE length(NEW.message_id) WHEN 32 THEN
        substr(NEW.message_id, 1, 8) || '-' || substr(NEW.message_id, 9, 4) || '-' ||
        substr(NEW.message_id, 13, 4) || '-' || substr(NEW.message_id, 17, 4) || '-' ||
        substr(NEW.message_id, 21) ELSE NEW.message_id END) WHERE seq = NEW.seq;
END;
CREATE TRIGGER IF NOT EXISTS outbox_deliver_at AFTER INSERT ON outbox_messages
WHEN NEW.deliver_at > NEW.next_retry_at BEGIN
    UPDATE outbox_messages SET next_retry_at = NEW.deliver_at WHERE seq = NEW.seq;
END;

-- Due work by destination: what the dispatcher asks for, over and over.
CREATE INDEX IF NOT EXISTS idx_outbox_status_retry
    ON outbox_messages (destination, next_retry_at) WHERE status = 'Pending';
-- What retention deletes, oldest first; rows are added at its end.
CREATE INDEX IF NOT EXISTS idx_outbox_sent ON outbox_messages (sent_at) WHERE status = 'Sent';

CREATE TABLE IF NOT EXISTS outbox_attempts (
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (seq, attempt)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS inbox_messages (
    seq INTEGER PRIMARY KEY,
    source_service_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    processed_at INTEGER CHECK (typeof(processed_at) IN ('integer', 'null')),
    response_payload TEXT,
    expires_at INTEGER NOT NULL CHECK (typeof(expires_at) = 'integer'),
    claim_owner TEXT,
    claim_until INTEGER,
    UNIQUE (source_service_id, message_id)
);
CREATE INDEX IF NOT EXISTS idx_inbox_expires ON inbox_messages (expires_at);

CREATE TABLE IF NOT EXISTS posthorn_leases (
    name TEXT PRIMARY KEY,
    owner TEXT,
    epoch INTEGER NOT NULL,
    beat INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS posthorn_meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT OR IGNORE INTO posthorn_meta VALUES ('barrier', 0);

-- One row for all that one commit did of a kind; `seqs` lists rows as ranges, such as 3-9,12.
CREATE TABLE IF NOT EXISTS changes (
    change_seq INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    seqs TEXT NOT NULL
);

CREATE VIEW IF NOT EXISTS posthorn_outbox AS SELECT seq, message_id, message_type,
    destination, endpoint, status, retry_count, max_retries, last_error, correlation_id,
    tenant, order_key, payload, headers, resolution,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', next_retry_at / 1000.0, 'unixepoch') AS next_retry_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', last_attempt_at / 1000.0, 'unixepoch') AS last_attempt_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', sent_at / 1000.0, 'unixepoch') AS sent_at
    FROM outbox_messages;
CREATE VIEW IF NOT EXISTS posthorn_inbox AS SELECT source_service_id, message_id, endpoint,
    response_payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', processed_at / 1000.0, 'unixepoch') AS processed_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS expires_at
    FROM inbox_messages;

-- The same messages under the other documents' names.
CREATE VIEW IF NOT EXISTS posthorn_events AS SELECT message_id AS Id, endpoint AS EventType,
    payload AS Payload, correlation_id AS CorrelationId, last_error AS Error,
    retry_count AS RetryCount,
    CASE status WHEN 'Sent' THEN 'Published' WHEN 'Dead' THEN 'DeadLetter' ELSE status END
     AS Status,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS CreatedAt,
    strftime('%Y-%m-%dT%H:%M:%fZ', sent_at / 1000.0, 'unixepoch') AS PublishedAt
    FROM outbox_messages;
CREATE VIEW IF NOT EXISTS posthorn_calls AS SELECT message_id AS CallId,
    endpoint AS MethodName, payload AS Payload, retry_count AS Retries,
    CASE status WHEN 'Sent' THEN 'Completed' WHEN 'Dead' THEN 'DeadLetter' ELSE status END
     AS Status,
    strftime('%Y-%m-%dT%H:%M:%fZ', expires_at / 1000.0, 'unixepoch') AS ExpiresAt
    FROM outbox_messages;)sql");

// Messages that were given up and whose end is still to be told to the application.
constexpr std::string_view second =
    "CREATE TABLE IF NOT EXISTS outbox_ended (seq INTEGER PRIMARY KEY);";

// Rows of plain SQL have no checksum, nor have those that were changed on purpose.
constexpr std::string_view fourth = R"sql(
ALTER TABLE outbox_messages ADD COLUMN checksum INTEGER;
CREATE TRIGGER IF NOT EXISTS outbox_checksum
AFTER UPDATE OF message_id, message_type, destination, endpoint, payload, content_type, headers,
    correlation_id, tenant, order_key, parent_id, causation_id, created_at, expires_at
ON outbox_messages WHEN NEW.checksum IS NOT NULL BEGIN
    UPDATE outbox_messages SET checksum = NULL WHERE seq = NEW.seq;
END;)sql";

constexpr std::string_view fifth =
    "ALTER TABLE inbox_messages ADD COLUMN response_checksum INTEGER;";

}  // namespace

migration_set store_tables() noexcept {
    static const std::array<migration, 10> steps{{{1, first},
                                                  {2, second},
                                                  {3, dispatch_tables},
                                                  {4, fourth},
                                                  {5, fifth},
                                                  {6, dispatch_rules},
                                                  {7, webhook_views},
                                                  {8, dispatch_limits},
                                                  {9, dispatch_times},
                                                  {10, dispatch_passing}}};
    return {"store", steps};
}

}  // namespace posthorn::sqlite
