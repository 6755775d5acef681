#include "forward/forward_tables.hpp"

#include <array>

#include "base/text/joined.hpp"
#include "forward/audit/audit_tables.hpp"
#include "forward/limits/limit_tables.hpp"

namespace posthorn {
namespace {

// Statuses: 0 waits, 2 is parked, 4 was discarded, 5 was refused at its first attempt. On its way is
// a lease, known to the node alone, and what was delivered has no row.
constexpr auto held_in_file = joined(R"sql(
CREATE TABLE IF NOT EXISTS forward_categories (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
        CONSTRAINT category_is_a_word
        CHECK (length(name) BETWEEN 1 AND 64 AND name NOT GLOB '*[^A-Za-z0-9_.-]*'),
    tracked INTEGER NOT NULL DEFAULT 1,
    max_retries INTEGER NOT NULL DEFAULT 50,
    retry_interval_ms INTEGER NOT NULL DEFAULT 30000);
INSERT OR IGNORE INTO forward_categories (number, name, tracked)
    VALUES (0, 'ExternalSystem', 1), (1, 'Notification', 0), (2, 'CachedDbWrite', 1);

CREATE TABLE IF NOT EXISTS forward_messages (
    seq INTEGER PRIMARY KEY,  -- Of its message.
    id TEXT NOT NULL UNIQUE,
    category TEXT NOT NULL,
    target TEXT NOT NULL,
    status INTEGER NOT NULL DEFAULT 0,
    tracked INTEGER NOT NULL,
    immediate INTEGER NOT NULL DEFAULT 0,  -- Its first attempt is not one of the retries.
    bytes INTEGER NOT NULL,
    retry_count INTEGER NOT NULL DEFAULT 0,
    max_retries INTEGER NOT NULL,
    retry_interval_ms INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_attempt_at INTEGER,
    last_error TEXT,
    http_status INTEGER,
    origin_instance TEXT,
    execution_id TEXT,
    source_script TEXT,
    parent_execution_id TEXT);
CREATE INDEX IF NOT EXISTS idx_sf_messages_status ON forward_messages (status);
CREATE INDEX IF NOT EXISTS idx_sf_messages_category ON forward_messages (category, status);

CREATE TABLE IF NOT EXISTS forward_totals (
    category TEXT PRIMARY KEY,
    waiting INTEGER NOT NULL DEFAULT 0,
    parked INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS OperationTracking (
    TrackedOperationId TEXT NOT NULL PRIMARY KEY,
    Kind TEXT NOT NULL,
    TargetSummary TEXT,
    Status TEXT NOT NULL,
    RetryCount INTEGER NOT NULL DEFAULT 0,
    LastError TEXT,
    HttpStatus INTEGER,
    CreatedAtUtc TEXT NOT NULL,
    UpdatedAtUtc TEXT NOT NULL,
    TerminalAtUtc TEXT,
    SourceInstanceId TEXT,
    SourceScript TEXT,
    SourceNode TEXT);
CREATE INDEX IF NOT EXISTS IX_OperationTracking_Status_Updated
    ON OperationTracking (Status, UpdatedAtUtc);

CREATE TRIGGER IF NOT EXISTS forward_arrived AFTER INSERT ON forward_messages BEGIN
    INSERT INTO forward_totals (category, waiting, parked, bytes)
    VALUES (NEW.category, NEW.status = 0, NEW.status = 2, NEW.bytes)
    ON CONFLICT (category) DO UPDATE SET waiting = waiting + excluded.waiting,
        parked = parked + excluded.parked, bytes = bytes + excluded.bytes;
    INSERT OR IGNORE INTO OperationTracking (TrackedOperationId, Kind, TargetSummary, Status,
        CreatedAtUtc, UpdatedAtUtc, SourceInstanceId, SourceScript, SourceNode)
    SELECT NEW.id, NEW.category, substr(NEW.target, 1, 200), 'Submitted',
        strftime('%Y-%m-%dT%H:%M:%fZ', NEW.created_at / 1000.0, 'unixepoch'),
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), NEW.origin_instance, NEW.source_script,
        coalesce((SELECT value FROM posthorn_meta WHERE name = 'forward_site'),
            '$unknown-site')
    WHERE NEW.tracked;
END;
CREATE TRIGGER IF NOT EXISTS forward_changed AFTER UPDATE OF status ON forward_messages
WHEN NEW.status <> OLD.status BEGIN
    UPDATE forward_totals SET
        waiting = waiting + (NEW.status = 0) - (OLD.status = 0),
        parked = parked + (NEW.status = 2) - (OLD.status = 2),
        bytes = bytes + OLD.bytes * ((NEW.status IN (0, 2)) - (OLD.status IN (0, 2)))
    WHERE category = OLD.category;
END;
CREATE TRIGGER IF NOT EXISTS forward_attempted
AFTER UPDATE OF status, last_attempt_at ON forward_messages WHEN NEW.tracked BEGIN
    UPDATE OperationTracking SET
        Status = CASE NEW.status WHEN 2 THEN 'Parked' WHEN 4 THEN 'Discarded' WHEN 5 THEN 'Failed'
            ELSE CASE WHEN NEW.last_attempt_at IS NULL THEN 'Submitted' ELSE 'Retrying' END END,
        RetryCount = NEW.retry_count, LastError = NEW.last_error, HttpStatus = NEW.http_status,
        UpdatedAtUtc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
        TerminalAtUtc = CASE WHEN NEW.status IN (4, 5)
            THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END
    WHERE TrackedOperationId = NEW.id;
END;
-- What is deleted while it waits was delivered.
CREATE TRIGGER IF NOT EXISTS forward_delivered AFTER DELETE ON forward_messages
WHEN OLD.status = 0 BEGIN
    UPDATE forward_totals SET waiting = waiting - 1, bytes = bytes - OLD.bytes
    WHERE category = OLD.category;
    UPDATE OperationTracking SET Status = 'Delivered', RetryCount = OLD.retry_count,
        HttpStatus = OLD.http_status, UpdatedAtUtc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
        TerminalAtUtc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE OLD.tracked AND TrackedOperationId = OLD.id;
END;

-- Its message was given up or closed, or a person has it sent again.
CREATE TRIGGER IF NOT EXISTS forward_closed AFTER INSERT ON outbox_closed
WHEN EXISTS (SELECT 1 FROM forward_messages WHERE seq = NEW.seq) BEGIN
    UPDATE forward_messages SET status = CASE WHEN NEW.status <> 'Resolved' THEN 2
            WHEN (SELECT resolution FROM outbox_messages WHERE seq = NEW.seq) LIKE 'refused:%'
            THEN 5 ELSE 4 END,
        last_error = coalesce(CASE WHEN NEW.status = 'Expired' THEN 'it has expired' END,
            (SELECT last_error FROM outbox_messages WHERE seq = NEW.seq), last_error)
    WHERE seq = NEW.seq;
    DELETE FROM forward_messages WHERE seq = NEW.seq AND status > 2;
END;
CREATE TRIGGER IF NOT EXISTS forward_reopened AFTER DELETE ON outbox_closed
WHEN EXISTS (SELECT 1 FROM forward_messages WHERE seq = OLD.seq) BEGIN
    UPDATE forward_messages SET status = 0, retry_count = 0, last_attempt_at = NULL
    WHERE seq = OLD.seq
        AND (SELECT status FROM outbox_messages WHERE seq = OLD.seq) = 'Pending';
    UPDATE forward_messages SET status = 4 WHERE seq = OLD.seq
        AND NOT EXISTS (SELECT 1 FROM outbox_messages WHERE seq = OLD.seq);
    DELETE FROM forward_messages WHERE seq = OLD.seq AND status = 4;
END;

-- The document's table: what waits and what is parked, for programs that know it.
CREATE VIEW IF NOT EXISTS sf_messages AS
    SELECT held.id, number AS category, target, payload AS payload_json, held.retry_count,
        held.max_retries, held.retry_interval_ms,
        strftime('%Y-%m-%dT%H:%M:%fZ', held.created_at / 1000.0, 'unixepoch') AS created_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', held.last_attempt_at / 1000.0, 'unixepoch')
            AS last_attempt_at,
        held.status, held.last_error, origin_instance, execution_id, source_script,
        parent_execution_id
    FROM forward_messages AS held JOIN outbox_messages USING (seq)
        JOIN forward_categories AS kind ON kind.name = held.category;
CREATE TRIGGER IF NOT EXISTS sf_inserted INSTEAD OF INSERT ON sf_messages BEGIN
    SELECT RAISE(ABORT, 'sf_messages: no such category; see the table forward_categories')
    WHERE NOT EXISTS (SELECT 1 FROM forward_categories WHERE number = NEW.category);
    SELECT RAISE(ABORT, 'sf_messages: give a target of at most 180 bytes')
    WHERE coalesce(length(CAST(NEW.target AS BLOB)), 0) NOT BETWEEN 1 AND 180;
    SELECT RAISE(ABORT, 'sf_messages: what is inserted has status 0')
    WHERE coalesce(NEW.status, 0) <> 0;
    SELECT RAISE(ABORT, 'sf_messages: max_retries and retry_interval_ms are not negative')
    WHERE NEW.max_retries < 0 OR NEW.retry_interval_ms < 0;
    INSERT INTO outbox_messages (message_id, headers, destination, endpoint, payload, max_retries,
        expires_at)
    SELECT coalesce(NEW.id, lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' ||
            substr(lower(hex(randomblob(2))), 2) || '-a' || substr(lower(hex(randomblob(2))), 2) ||
            '-' || lower(hex(randomblob(6)))),
        json_object('sf', json_object('interval',
            coalesce(NEW.retry_interval_ms, retry_interval_ms), 'origin', NEW.origin_instance,
            'execution', NEW.execution_id, 'script', NEW.source_script,
            'parent', NEW.parent_execution_id)),
        'forward:' || name || '/' || NEW.target, name, NEW.payload_json,
        min(coalesce(NEW.max_retries, max_retries) - 1, 2147483646), 253402300799000
    FROM forward_categories WHERE number = NEW.category;
    INSERT INTO forward_messages (seq, id, category, target, tracked, bytes, max_retries,
        retry_interval_ms, created_at, origin_instance, execution_id, source_script,
        parent_execution_id)
    SELECT sent.seq, sent.message_id, kind.name, NEW.target, kind.tracked,
        length(CAST(sent.payload AS BLOB)), coalesce(NEW.max_retries, kind.max_retries),
        coalesce(NEW.retry_interval_ms, kind.retry_interval_ms), sent.created_at,
        NEW.origin_instance, NEW.execution_id, NEW.source_script, NEW.parent_execution_id
    FROM forward_categories AS kind, outbox_messages AS sent
    WHERE kind.number = NEW.category
        AND sent.seq = (SELECT max(seq) FROM outbox_messages);
END;
CREATE TRIGGER IF NOT EXISTS sf_deleted INSTEAD OF DELETE ON sf_messages BEGIN
    SELECT RAISE(ABORT, 'sf_messages: only what is parked can be discarded')
    WHERE OLD.status <> 2;
    UPDATE outbox_messages SET status = 'Resolved', resolution = 'discarded'
    WHERE message_id = OLD.id AND (status = 'Dead' OR status = 'Expired');
END;
CREATE TRIGGER IF NOT EXISTS sf_updated INSTEAD OF UPDATE ON sf_messages BEGIN
    SELECT RAISE(ABORT, 'sf_messages: all that can be set is status 0, of what is parked')
    WHERE OLD.status <> 2 OR NEW.status <> 0;
    UPDATE outbox_messages SET status = 'Pending', retry_count = 0, next_retry_at = 0,
        last_attempt_at = NULL, expires_at = 253402300799000
    WHERE message_id = OLD.id AND (status = 'Dead' OR status = 'Expired');
END;)sql");
constexpr auto in_file = joined(held_in_file, forward_limits_in_file, forward_audit_in_file);
constexpr std::array file_steps{migration{1, in_file}, migration{2, forward_step_2_in_file}};

// As in a file; a server folds names, so those of the document are in lower case. Totals are kept in
// stripes, so that those who forward at a time do not wait for each other.
constexpr auto held_on_server = joined(R"sql(
CREATE TABLE {s}.forward_categories (
    number bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
        CONSTRAINT category_is_a_word CHECK (name ~ '^[A-Za-z0-9_.-]{1,64}$'),
    tracked bigint NOT NULL DEFAULT 1,
    max_retries bigint NOT NULL DEFAULT 50,
    retry_interval_ms bigint NOT NULL DEFAULT 30000);
INSERT INTO {s}.forward_categories (number, name, tracked)
    VALUES (0, 'ExternalSystem', 1), (1, 'Notification', 0), (2, 'CachedDbWrite', 1);

CREATE TABLE {s}.forward_messages (
    seq bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    category text COLLATE "C" NOT NULL,
    target text NOT NULL,
    status bigint NOT NULL DEFAULT 0,
    tracked bigint NOT NULL,
    immediate bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL,
    retry_count bigint NOT NULL DEFAULT 0,
    max_retries bigint NOT NULL,
    retry_interval_ms bigint NOT NULL,
    created_at bigint NOT NULL,
    last_attempt_at bigint,
    last_error text,
    http_status bigint,
    origin_instance text,
    execution_id text,
    source_script text,
    parent_execution_id text) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX idx_sf_messages_status ON {s}.forward_messages (status, seq);
CREATE INDEX idx_sf_messages_category ON {s}.forward_messages (category, status, seq);

CREATE TABLE {s}.forward_totals (
    category text COLLATE "C" NOT NULL,
    stripe bigint NOT NULL DEFAULT 0,
    waiting bigint NOT NULL DEFAULT 0,
    parked bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (category, stripe)) WITH (fillfactor = 20);

CREATE TABLE {s}.operationtracking (
    trackedoperationid text COLLATE "C" NOT NULL PRIMARY KEY,
    kind text NOT NULL,
    targetsummary text,
    status text NOT NULL,
    retrycount bigint NOT NULL DEFAULT 0,
    lasterror text,
    httpstatus bigint,
    createdatutc text NOT NULL,
    updatedatutc text NOT NULL,
    terminalatutc text,
    sourceinstanceid text,
    sourcescript text,
    sourcenode text);
CREATE INDEX ix_operationtracking_status_updated ON {s}.operationtracking (status, updatedatutc);

CREATE FUNCTION {s}.forward_count(of_category text, more_waiting bigint, more_parked bigint,
    more_bytes bigint) RETURNS void LANGUAGE sql AS $$
INSERT INTO {s}.forward_totals AS t (category, stripe, waiting, parked, bytes)
    VALUES (of_category, pg_backend_pid() % 16, more_waiting, more_parked, more_bytes)
    ON CONFLICT (category, stripe) DO UPDATE SET waiting = t.waiting + excluded.waiting,
        parked = t.parked + excluded.parked, bytes = t.bytes + excluded.bytes $$;

CREATE FUNCTION {s}.forward_followed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE now text := {s}.iso({s}.to_ms(clock_timestamp()));
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM {s}.forward_count(NEW.category, (NEW.status = 0)::int, (NEW.status = 2)::int,
            NEW.bytes);
        IF NEW.tracked <> 0 THEN
            INSERT INTO {s}.operationtracking (trackedoperationid, kind, targetsummary, status,
                createdatutc, updatedatutc, sourceinstanceid, sourcescript, sourcenode)
            VALUES (NEW.id, NEW.category, left(NEW.target, 200), 'Submitted',
                {s}.iso(NEW.created_at), now, NEW.origin_instance, NEW.source_script,
                coalesce((SELECT value FROM {s}.posthorn_meta WHERE name = 'forward_site'),
                    '$unknown-site'))
            ON CONFLICT DO NOTHING;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF NEW.status <> OLD.status THEN
            PERFORM {s}.forward_count(OLD.category,
                (NEW.status = 0)::int - (OLD.status = 0)::int,
                (NEW.status = 2)::int - (OLD.status = 2)::int,
                OLD.bytes * ((NEW.status IN (0, 2))::int - (OLD.status IN (0, 2))::int));
        END IF;
        IF NEW.tracked <> 0 THEN
            UPDATE {s}.operationtracking SET
                status = CASE NEW.status WHEN 2 THEN 'Parked' WHEN 4 THEN 'Discarded'
                    WHEN 5 THEN 'Failed' ELSE CASE WHEN NEW.last_attempt_at IS NULL
                        THEN 'Submitted' ELSE 'Retrying' END END,
                retrycount = NEW.retry_count, lasterror = NEW.last_error,
                httpstatus = NEW.http_status, updatedatutc = now,
                terminalatutc = CASE WHEN NEW.status IN (4, 5) THEN now END
            WHERE trackedoperationid = NEW.id;
        END IF;
    ELSIF OLD.status = 0 THEN  -- What is deleted while it waits was delivered.
        PERFORM {s}.forward_count(OLD.category, -1, 0, -OLD.bytes);
        IF OLD.tracked <> 0 THEN
            UPDATE {s}.operationtracking SET status = 'Delivered', retrycount = OLD.retry_count,
                httpstatus = OLD.http_status, updatedatutc = now, terminalatutc = now
            WHERE trackedoperationid = OLD.id;
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_followed AFTER INSERT OR DELETE OR UPDATE OF status, last_attempt_at
    ON {s}.forward_messages FOR EACH ROW EXECUTE FUNCTION {s}.forward_followed();

-- Its message was given up or closed, or a person has it sent again.
CREATE FUNCTION {s}.forward_closed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE message {s}.outbox_messages;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM {s}.forward_messages
            WHERE seq = CASE TG_OP WHEN 'INSERT' THEN NEW.seq ELSE OLD.seq END) THEN
        RETURN NULL;
    END IF;
    SELECT * INTO message FROM {s}.outbox_messages
        WHERE seq = CASE TG_OP WHEN 'INSERT' THEN NEW.seq ELSE OLD.seq END;
    IF TG_OP = 'INSERT' THEN
        UPDATE {s}.forward_messages SET
            status = CASE WHEN NEW.status <> 'Resolved' THEN 2
                WHEN message.resolution LIKE 'refused:%' THEN 5 ELSE 4 END,
            last_error = coalesce(CASE WHEN NEW.status = 'Expired' THEN 'it has expired' END,
                message.last_error, last_error)
        WHERE seq = NEW.seq;
        DELETE FROM {s}.forward_messages WHERE seq = NEW.seq AND status > 2;
    ELSIF message.status = 'Pending' THEN
        UPDATE {s}.forward_messages SET status = 0, retry_count = 0, last_attempt_at = NULL
        WHERE seq = OLD.seq;
    ELSIF message.seq IS NULL THEN
        UPDATE {s}.forward_messages SET status = 4 WHERE seq = OLD.seq;
        DELETE FROM {s}.forward_messages WHERE seq = OLD.seq;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_closed AFTER INSERT OR DELETE ON {s}.outbox_closed
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_closed();

CREATE VIEW {s}.sf_messages AS
    SELECT held.id, number AS category, target, payload AS payload_json, held.retry_count,
        held.max_retries, held.retry_interval_ms, {s}.iso(held.created_at) AS created_at,
        {s}.iso(held.last_attempt_at) AS last_attempt_at, held.status, held.last_error,
        origin_instance, execution_id, source_script, parent_execution_id
    FROM {s}.forward_messages AS held JOIN {s}.outbox_messages USING (seq)
        JOIN {s}.forward_categories AS kind ON kind.name = held.category;
CREATE FUNCTION {s}.sf_written() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kind {s}.forward_categories;
    sent_seq bigint;
    sent_id text;
    sent_at bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT * INTO kind FROM {s}.forward_categories WHERE number = NEW.category;
        IF NOT FOUND THEN
            RAISE 'sf_messages: no such category; see the table forward_categories';
        ELSIF coalesce(octet_length(NEW.target), 0) NOT BETWEEN 1 AND 180 THEN
            RAISE 'sf_messages: give a target of at most 180 bytes';
        ELSIF coalesce(NEW.status, 0) <> 0 THEN
            RAISE 'sf_messages: what is inserted has status 0';
        ELSIF NEW.max_retries < 0 OR NEW.retry_interval_ms < 0 THEN
            RAISE 'sf_messages: max_retries and retry_interval_ms are not negative';
        END IF;
        INSERT INTO {s}.outbox_messages (message_id, headers, destination, endpoint, payload,
            max_retries, expires_at)
        VALUES (coalesce(NEW.id, {s}.new_id()),
            json_build_object('sf', json_build_object('interval',
                coalesce(NEW.retry_interval_ms, kind.retry_interval_ms),
                'origin', NEW.origin_instance, 'execution', NEW.execution_id,
                'script', NEW.source_script, 'parent', NEW.parent_execution_id))::text,
            'forward:' || kind.name || '/' || NEW.target,
            kind.name, NEW.payload_json,
            least(coalesce(NEW.max_retries, kind.max_retries) - 1, 2147483646),
            253402300799000)
        RETURNING seq, message_id, created_at INTO sent_seq, sent_id, sent_at;
        INSERT INTO {s}.forward_messages (seq, id, category, target, tracked, bytes, max_retries,
            retry_interval_ms, created_at, origin_instance, execution_id, source_script,
            parent_execution_id)
        VALUES (sent_seq, sent_id, kind.name, NEW.target, kind.tracked,
            octet_length(NEW.payload_json), coalesce(NEW.max_retries, kind.max_retries),
            coalesce(NEW.retry_interval_ms, kind.retry_interval_ms), sent_at, NEW.origin_instance,
            NEW.execution_id, NEW.source_script, NEW.parent_execution_id);
        RETURN NEW;
    ELSIF TG_OP = 'DELETE' THEN
        IF OLD.status <> 2 THEN
            RAISE 'sf_messages: only what is parked can be discarded';
        END IF;
        UPDATE {s}.outbox_messages SET status = 'Resolved', resolution = 'discarded'
        WHERE message_id = OLD.id AND status IN ('Dead', 'Expired');
        RETURN OLD;
    END IF;
    IF OLD.status <> 2 OR NEW.status <> 0 THEN
        RAISE 'sf_messages: all that can be set is status 0, of what is parked';
    END IF;
    UPDATE {s}.outbox_messages SET status = 'Pending', retry_count = 0, next_retry_at = 0,
        last_attempt_at = NULL, expires_at = 253402300799000
    WHERE message_id = OLD.id AND status IN ('Dead', 'Expired');
    RETURN NEW;
END $$;
CREATE TRIGGER sf_written INSTEAD OF INSERT OR UPDATE OR DELETE ON {s}.sf_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.sf_written();
REVOKE EXECUTE ON FUNCTION {s}.forward_followed(), {s}.forward_closed() FROM PUBLIC;
)sql");
constexpr auto on_server =
    joined(held_on_server, forward_limits_on_server, forward_audit_on_server);
constexpr std::array server_steps{migration{1, on_server}, migration{2, forward_step_2_on_server}};

using column = copied_table::column;
constexpr auto a_number = column::kind::number;
constexpr auto a_note = column::kind::note;
constexpr std::array category_columns{column{"number", a_number}, column{"name"},
                                      column{"tracked", a_number}, column{"max_retries", a_number},
                                      column{"retry_interval_ms", a_number}};
constexpr std::array tracking_columns{column{"trackedoperationid"},
                                      column{"kind"},
                                      column{"targetsummary", a_note},
                                      column{"status"},
                                      column{"retrycount", a_number},
                                      column{"lasterror", a_note},
                                      column{"httpstatus", a_number},
                                      column{"createdatutc"},
                                      column{"updatedatutc"},
                                      column{"terminalatutc"},
                                      column{"sourceinstanceid"},
                                      column{"sourcescript"},
                                      column{"sourcenode"}};
constexpr std::array message_columns{column{"seq", a_number},
                                     column{"id"},
                                     column{"category"},
                                     column{"target"},
                                     column{"status", a_number},
                                     column{"tracked", a_number},
                                     column{"immediate", a_number},
                                     column{"bytes", a_number},
                                     column{"retry_count", a_number},
                                     column{"max_retries", a_number},
                                     column{"retry_interval_ms", a_number},
                                     column{"created_at", a_number},
                                     column{"last_attempt_at", a_number},
                                     column{"last_error", a_note},
                                     column{"http_status", a_number},
                                     column{"origin_instance"},
                                     column{"execution_id"},
                                     column{"source_script"},
                                     column{"parent_execution_id"}};
constexpr std::array columns_of_totals{column{"category"}, column{"waiting", a_number}};
constexpr std::array columns_of_caps{column{"category"}, column{"max_messages", a_number}};
constexpr std::array sample_columns{column{"seq", a_number}, column{"category"}, column{"target"},
                                    column{"sample_key"}, column{"value"}};
constexpr std::array audit_columns{column{"trackedoperationid"},
                                   column{"attempt", a_number},
                                   column{"channel"},
                                   column{"target"},
                                   column{"sourcesite"},
                                   column{"outcome"},
                                   column{"retrycount", a_number},
                                   column{"lasterror", a_note},
                                   column{"httpstatus", a_number},
                                   column{"createdatutc"},
                                   column{"occurredatutc"},
                                   column{"durationms", a_number},
                                   column{"sourceinstanceid"},
                                   column{"executionid"},
                                   column{"sourcescript"},
                                   column{"parentexecutionid"}};
constexpr std::array untold_columns{column{"id"}, column{"what"}};
// Caps are written by the node that starts. What is tracked is there before the messages that would
// begin it. Totals come by themselves.
constexpr std::array copied{
    copied_table{.name = "forward_categories", .columns = category_columns, .only = "number > 2"},
    copied_table{.name = "OperationTracking", .columns = tracking_columns},
    copied_table{.name = "forward_messages", .columns = message_columns},
    copied_table{.name = "forward_totals", .columns = columns_of_totals, .only = "1 = 0"},
    copied_table{.name = "forward_caps", .columns = columns_of_caps, .only = "1 = 0"},
    copied_table{.name = "forward_samples", .columns = sample_columns},
    copied_table{.name = "forward_audit", .columns = audit_columns, .and_by = "attempt"},
    copied_table{.name = "forward_untold", .columns = untold_columns}};

}  // namespace

table_set forward_tables() noexcept {
    return {{"forward", file_steps}, {"forward", server_steps}, copied};
}

}  // namespace posthorn
