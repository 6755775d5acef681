-- The tables of store-and-forward at step 1, as the program made them then, beside those of the store;
-- {s} stands for the schema.
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
CREATE TABLE {s}.forward_caps (
    category text COLLATE "C" PRIMARY KEY,
    max_messages bigint NOT NULL DEFAULT 0,
    max_bytes bigint NOT NULL DEFAULT 0);
CREATE FUNCTION {s}.forward_capped() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM {s}.forward_caps AS cap WHERE cap.category IN ('', NEW.category) AND (
        (max_messages > 0 AND max_messages < 1 + (SELECT coalesce(sum(waiting + parked), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category)))
        OR (max_bytes > 0 AND max_bytes < NEW.bytes + (SELECT coalesce(sum(bytes), 0)
            FROM {s}.forward_totals AS held WHERE cap.category IN ('', held.category))));
    IF FOUND THEN
        RAISE 'buffer_full: as much work is held as forward_caps allows';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER forward_capped BEFORE INSERT ON {s}.forward_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_capped();

CREATE TABLE {s}.forward_samples (
    seq bigint PRIMARY KEY,
    category text COLLATE "C" NOT NULL,
    target text NOT NULL,
    sample_key text COLLATE "C" NOT NULL,
    value text NOT NULL);
CREATE INDEX idx_forward_samples ON {s}.forward_samples (category, target, seq);
CREATE FUNCTION {s}.forward_sample_gone() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {s}.forward_samples WHERE seq = OLD.seq;
    RETURN NULL;
END $$;
CREATE TRIGGER forward_sample_gone AFTER DELETE ON {s}.forward_messages
    FOR EACH ROW EXECUTE FUNCTION {s}.forward_sample_gone();
REVOKE EXECUTE ON FUNCTION {s}.forward_capped(), {s}.forward_sample_gone() FROM PUBLIC;
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
INSERT INTO {s}.posthorn_migrations VALUES ('forward', 1, 1763000000000);
INSERT INTO {s}.sf_messages (id, category, target, payload_json)
 VALUES ('01900000-0000-7000-8000-0000000000f1', 0, 'erp', '{}');
