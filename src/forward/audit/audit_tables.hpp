#pragma once

#include "base/text/joined.hpp"

namespace posthorn {

/// Beside the tables of what is held: every attempt of tracked work, as long as its tracking is kept
/// and up to a thousand of each; and what is still to be told, because no attempt tells it: what a
/// person decided, and to the centre whatever else became of tracked work.
inline constexpr auto forward_audit_in_file = joined(R"sql(
CREATE TABLE IF NOT EXISTS forward_audit (
    TrackedOperationId TEXT NOT NULL,
    Attempt INTEGER NOT NULL,
    Channel TEXT NOT NULL,
    Target TEXT,
    SourceSite TEXT NOT NULL,
    Outcome TEXT NOT NULL,
    RetryCount INTEGER NOT NULL,
    LastError TEXT,
    HttpStatus INTEGER,
    CreatedAtUtc TEXT NOT NULL,
    OccurredAtUtc TEXT NOT NULL,
    DurationMs INTEGER NOT NULL,
    SourceInstanceId TEXT,
    ExecutionId TEXT,
    SourceScript TEXT,
    ParentExecutionId TEXT,
    PRIMARY KEY (TrackedOperationId, Attempt)) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS forward_audit_full AFTER INSERT ON forward_audit
WHEN NEW.Attempt > 1000 BEGIN
    DELETE FROM forward_audit WHERE TrackedOperationId = NEW.TrackedOperationId
        AND Attempt <= NEW.Attempt - 1000;
END;
CREATE TRIGGER IF NOT EXISTS forward_forgotten AFTER DELETE ON OperationTracking BEGIN
    DELETE FROM forward_audit WHERE TrackedOperationId = OLD.TrackedOperationId;
END;

CREATE TABLE IF NOT EXISTS forward_untold (
    id TEXT PRIMARY KEY,
    what TEXT NOT NULL) WITHOUT ROWID;  -- Retry or Discard, if a person decided; else empty.
CREATE TRIGGER IF NOT EXISTS forward_decided AFTER UPDATE OF status ON forward_messages
WHEN NEW.status <> OLD.status AND NEW.status <> 5 AND (OLD.status = 2 OR NEW.tracked
    AND EXISTS (SELECT 1 FROM posthorn_meta WHERE name = 'forward_centre')) BEGIN
    INSERT INTO forward_untold (id, what)
    VALUES (NEW.id, CASE WHEN OLD.status <> 2 THEN '' WHEN NEW.status = 0 THEN 'Retry'
        WHEN (SELECT resolution FROM outbox_messages WHERE seq = NEW.seq) = 'discarded'
        THEN 'Discard' ELSE '' END)
    ON CONFLICT (id) DO UPDATE SET what = excluded.what WHERE excluded.what <> '';
END;)sql");

inline constexpr auto forward_audit_on_server = joined(R"sql(
CREATE TABLE {s}.forward_audit (
    trackedoperationid text COLLATE "C" NOT NULL,
    attempt bigint NOT NULL,
    channel text NOT NULL,
    target text,
    sourcesite text NOT NULL,
    outcome text NOT NULL,
    retrycount bigint NOT NULL,
    lasterror text,
    httpstatus bigint,
    createdatutc text NOT NULL,
    occurredatutc text NOT NULL,
    durationms bigint NOT NULL,
    sourceinstanceid text,
    executionid text,
    sourcescript text,
    parentexecutionid text,
    PRIMARY KEY (trackedoperationid, attempt));
CREATE FUNCTION {s}.forward_audit_full() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {s}.forward_audit WHERE trackedoperationid = NEW.trackedoperationid
        AND attempt <= NEW.attempt - 1000;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_audit_full AFTER INSERT ON {s}.forward_audit
    FOR EACH ROW WHEN (NEW.attempt > 1000) EXECUTE FUNCTION {s}.forward_audit_full();
CREATE FUNCTION {s}.forward_forgotten() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {s}.forward_audit WHERE trackedoperationid = OLD.trackedoperationid;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_forgotten AFTER DELETE ON {s}.operationtracking
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_forgotten();

CREATE TABLE {s}.forward_untold (id text COLLATE "C" PRIMARY KEY, what text NOT NULL);
CREATE FUNCTION {s}.forward_decided() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status = 2 OR (NEW.tracked <> 0 AND EXISTS (
            SELECT 1 FROM {s}.posthorn_meta WHERE name = 'forward_centre')) THEN
        INSERT INTO {s}.forward_untold AS known (id, what)
        VALUES (NEW.id, CASE WHEN OLD.status <> 2 THEN '' WHEN NEW.status = 0 THEN 'Retry'
            WHEN (SELECT resolution FROM {s}.outbox_messages WHERE seq = NEW.seq) = 'discarded'
            THEN 'Discard' ELSE '' END)
        ON CONFLICT (id) DO UPDATE SET what = excluded.what WHERE excluded.what <> '';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_decided AFTER UPDATE OF status ON {s}.forward_messages
    FOR EACH ROW WHEN (NEW.status <> OLD.status AND NEW.status <> 5)
    EXECUTE FUNCTION {s}.forward_decided();
REVOKE EXECUTE ON FUNCTION {s}.forward_audit_full(), {s}.forward_forgotten(),
    {s}.forward_decided() FROM PUBLIC;
)sql");

}  // namespace posthorn
