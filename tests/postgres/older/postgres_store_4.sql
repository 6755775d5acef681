-- The tables of the store at step 4, as the program made them then; {s} stands for the schema.
CREATE SCHEMA {s};
CREATE TABLE {s}.posthorn_migrations (folder text NOT NULL, number bigint NOT NULL, applied_at bigint NOT NULL, PRIMARY KEY (folder, number));

-- The milliseconds that are over, of a time in microseconds. As doubles, which are exact enough and
-- cost less than numeric.
CREATE FUNCTION {s}.to_ms(at timestamptz) RETURNS bigint LANGUAGE sql STABLE
 RETURN (date_part('epoch', at) * 1000 - 0.4995)::bigint;

-- A UUIDv7: 60 bits of time, so finer than milliseconds, then 52 random ones (48 on PostgreSQL 14),
-- and among and behind them the number of the transaction, for sessions that have the same seed. As
-- random as ids have to be, and secrets have not: gen_random_uuid takes a twentieth of an INSERT. One
-- expression without a subquery, which the planner puts in the place of the call.
CREATE FUNCTION {s}.new_id() RETURNS text LANGUAGE sql VOLATILE RETURN '0' || overlay(overlay(
 to_hex((date_part('epoch', clock_timestamp()) * 4096000)::bigint)
 PLACING '-7' FROM 12 FOR 0) PLACING '-' FROM 8 FOR 0) || '-' || overlay(to_hex(
 (random() * 4611686018427387904::float8 - 9223372036854775808::float8)::bigint # txid_current())
 PLACING '-' FROM 5 FOR 0);

-- No index on anything that changes, so that updates need not touch one. No CHECK, which every
-- statement would read and plan anew: triggers hold rows to broken_rule.
CREATE TABLE {s}.outbox_messages (
 seq bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {s}.outbox_seq) PRIMARY KEY,
 message_id text COLLATE "C" NOT NULL UNIQUE DEFAULT {s}.new_id(),
 correlation_id text,
 message_type text NOT NULL DEFAULT 'Signal',
 destination text NOT NULL,
 endpoint text NOT NULL,
 payload text,
 payload_bytes bytea,
 headers text,
 status text COLLATE "C" NOT NULL DEFAULT 'Pending',
 retry_count bigint NOT NULL DEFAULT 0,
 max_retries bigint NOT NULL DEFAULT 5,
 next_retry_at bigint NOT NULL DEFAULT 0,
 last_attempt_at bigint,
 last_error text,
 created_at bigint NOT NULL DEFAULT {s}.to_ms(statement_timestamp()),
 expires_at bigint NOT NULL DEFAULT ({s}.to_ms(statement_timestamp()) + 86400000),
 sent_at bigint,
 deliver_at bigint,
 parent_id text,
 causation_id text,
 tenant text,
 order_key text,
 dedupe_key text,
 priority bigint NOT NULL DEFAULT 0,
 content_type text NOT NULL DEFAULT 'application/json',
 resolution text,
 checksum bigint,
 tx xid8 NOT NULL DEFAULT pg_current_xact_id())
 WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX outbox_dedupe ON {s}.outbox_messages (destination, dedupe_key, seq)
 WHERE dedupe_key IS NOT NULL;
CREATE INDEX outbox_tx ON {s}.outbox_messages (tx, seq);

-- A row for each pending message, but for what take_in has not found yet. Narrow, and gone when the
-- message is settled.
CREATE TABLE {s}.outbox_due (
 seq bigint PRIMARY KEY,
 destination text COLLATE "C" NOT NULL,
 tenant text COLLATE "C" NOT NULL,
 priority bigint NOT NULL,
 next_retry_at bigint NOT NULL,
 expires_at bigint NOT NULL,
 order_key text COLLATE "C",
 claim_epoch bigint)
 WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0);
CREATE INDEX outbox_due_flow ON {s}.outbox_due (destination, tenant, priority, next_retry_at, seq);
CREATE INDEX outbox_due_order ON {s}.outbox_due (destination, order_key, tenant, seq)
 WHERE order_key IS NOT NULL;

-- How far take_in has come: it has seen the messages of all transactions that were over in `seen`, but
-- for a few, of which it has not seen all. A look of several pages is at `last_tx, last_seq`; when it
-- is done it has seen `until`. The numbers of transactions are those of one server.
CREATE TABLE {s}.outbox_intake (
 is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
 server bigint NOT NULL,
 seen pg_snapshot NOT NULL,
 seen_but_for xid8[] NOT NULL,
 until pg_snapshot,
 until_but_for xid8[],
 last_tx xid8,
 last_seq bigint) WITH (fillfactor = 50);
INSERT INTO {s}.outbox_intake (server, seen, seen_but_for)
 SELECT system_identifier, pg_current_snapshot(), ARRAY[pg_current_xact_id()]
 FROM pg_control_system();

CREATE TABLE {s}.outbox_attempts (
 seq bigint NOT NULL,
 attempt bigint NOT NULL,
 at bigint NOT NULL,
 error text NOT NULL,
 PRIMARY KEY (seq, attempt));

-- Messages that were given up and whose end is still to be told to the application.
CREATE TABLE {s}.outbox_ended (seq bigint PRIMARY KEY);

-- When messages were given up or closed, and why; a row for each that is Dead, Expired or Resolved.
CREATE TABLE {s}.outbox_closed (
 seq bigint PRIMARY KEY,
 status text NOT NULL,
 at bigint NOT NULL,
 cause_id bigint,
 destination text COLLATE "C",
 tenant text COLLATE "C",
 order_key text COLLATE "C");
CREATE INDEX outbox_closed_age ON {s}.outbox_closed (status, at);
CREATE INDEX outbox_closed_seq ON {s}.outbox_closed (status, seq);
CREATE INDEX outbox_closed_cause ON {s}.outbox_closed (cause_id, seq) WHERE cause_id IS NOT NULL;
CREATE INDEX outbox_closed_new ON {s}.outbox_closed (seq) WHERE status = 'Dead' AND cause_id IS NULL;
CREATE INDEX outbox_closed_order ON {s}.outbox_closed (destination, order_key, tenant, seq)
 WHERE order_key IS NOT NULL AND status IN ('Dead', 'Expired');

-- Errors without what differs from one message to the next, and how many messages have each.
CREATE TABLE {s}.outbox_causes (
 cause_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
 destination text NOT NULL,
 endpoint text NOT NULL,
 cause text NOT NULL,
 dead bigint NOT NULL DEFAULT 0,
 first_at bigint NOT NULL,
 last_at bigint NOT NULL,
 UNIQUE (destination, endpoint, cause));
CREATE INDEX outbox_causes_dead ON {s}.outbox_causes (dead);

-- Destinations that a person has paused.
CREATE TABLE {s}.outbox_paused (
 destination text COLLATE "C" PRIMARY KEY,
 paused_at bigint NOT NULL,
 reason text NOT NULL DEFAULT '');

CREATE TABLE {s}.inbox_messages (
 seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
 source_service_id text COLLATE "C" NOT NULL,
 message_id text COLLATE "C" NOT NULL,
 endpoint text NOT NULL,
 body_hash bytea NOT NULL,
 processed_at bigint,
 response_payload bytea,
 expires_at bigint NOT NULL,
 claim_owner text,
 claim_until bigint,
 response_checksum bigint,
 UNIQUE (source_service_id, message_id))
 WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX inbox_expires ON {s}.inbox_messages (expires_at);

CREATE TABLE {s}.posthorn_leases (
 name text PRIMARY KEY,
 owner text,
 epoch bigint NOT NULL,
 beat bigint NOT NULL) WITH (fillfactor = 50);

-- Of dispatchers, of which several have a lease at a time: no two of them ever have the same epoch.
CREATE SEQUENCE {s}.dispatcher_epochs;

CREATE TABLE {s}.posthorn_meta (name text PRIMARY KEY, value text);

-- A row for each store that is open: the number of its last commit, so that one whose answer was
-- lost is told from one that was refused.
CREATE TABLE {s}.posthorn_commits (
 writer text PRIMARY KEY,
 number bigint NOT NULL,
 barrier bigint NOT NULL DEFAULT 0,
 at bigint NOT NULL) WITH (fillfactor = 50);

-- One row for all that one commit did of a kind; `seqs` lists rows as ranges, such as 3-9,12.
CREATE TABLE {s}.changes (
 change_seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
 epoch bigint NOT NULL,
 at bigint NOT NULL,
 kind text NOT NULL,
 seqs text NOT NULL);

-- Whether a state tells of transactions of this server, and not, as in a dump, of another's.
CREATE FUNCTION {s}.is_from_here(state {s}.outbox_intake) RETURNS boolean LANGUAGE sql STABLE
 RETURN (SELECT system_identifier FROM pg_control_system()) = state.server
  AND pg_snapshot_xmax(coalesce(state.until, state.seen)) <= pg_snapshot_xmax(pg_current_snapshot());

-- What is known here of what was seen.
CREATE FUNCTION {s}.known(state {s}.outbox_intake) RETURNS pg_snapshot LANGUAGE sql STABLE
 RETURN CASE WHEN {s}.is_from_here(state) THEN state.seen ELSE '1:1:'::pg_snapshot END;

-- Transactions that may be over in `now` and of which not all was seen; all there ever were, if nothing
-- is known.
CREATE FUNCTION {s}.unseen(seen pg_snapshot, but_for xid8[], now pg_snapshot)
 RETURNS TABLE (low xid8, high xid8) LANGUAGE sql IMMUTABLE AS
$$ SELECT tx, tx FROM pg_snapshot_xip(seen) AS tx WHERE pg_visible_in_snapshot(tx, now)
 UNION SELECT tx, tx FROM unnest(but_for) AS tx WHERE pg_snapshot_xmax(seen) <> '1'
  AND tx NOT BETWEEN pg_snapshot_xmax(seen) AND pg_snapshot_xmax(now)
 UNION ALL SELECT pg_snapshot_xmax(seen),
  CASE WHEN pg_snapshot_xmax(seen) = '1' THEN '18446744073709551615' ELSE pg_snapshot_xmax(now) END $$;

-- Whether take_in would find something, be it only what has its row already.
CREATE FUNCTION {s}.has_arrivals() RETURNS boolean LANGUAGE plpgsql STABLE
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$
DECLARE
 state {s}.outbox_intake;
BEGIN
 SELECT * INTO state FROM {s}.outbox_intake;
 IF NOT FOUND OR state.until IS NOT NULL OR NOT {s}.is_from_here(state) THEN RETURN true; END IF;
 RETURN EXISTS (SELECT 1 FROM {s}.unseen(state.seen, state.seen_but_for, pg_current_snapshot()) AS r,
  LATERAL (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.tx BETWEEN r.low AND r.high LIMIT 1) AS one);
END $$;

-- What has no row in outbox_due or outbox_closed and is to have one, as that of outbox_due will be.
CREATE FUNCTION {s}.arrivals() RETURNS TABLE (status text, seq bigint, destination text, tenant text,
 priority bigint, next_retry_at bigint, expires_at bigint, order_key text)
 LANGUAGE sql STABLE
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$ SELECT m.status, m.seq, m.destination, coalesce(m.tenant, ''), m.priority, m.next_retry_at,
  m.expires_at, nullif(m.order_key, '')
 FROM {s}.outbox_intake AS i, {s}.unseen({s}.known(i), i.seen_but_for, pg_current_snapshot()) AS r,
  LATERAL (SELECT * FROM {s}.outbox_messages AS m WHERE m.tx BETWEEN r.low AND r.high OFFSET 0) AS m
 WHERE m.status <> 'Sent' AND NOT EXISTS (SELECT 1 FROM {s}.outbox_due AS d WHERE d.seq = m.seq)
  AND NOT EXISTS (SELECT 1 FROM {s}.outbox_closed AS c WHERE c.seq = m.seq) $$;

-- All that is pending.
CREATE VIEW {s}.outbox_pending AS
 SELECT seq, destination, tenant, priority, next_retry_at, expires_at, order_key FROM {s}.outbox_due
 UNION ALL SELECT seq, destination COLLATE "C", tenant COLLATE "C", priority, next_retry_at,
  expires_at, order_key COLLATE "C" FROM {s}.arrivals() WHERE status = 'Pending';

-- Looks at so many messages that have come since the last look, and makes the rows of those that have
-- none; those to the destinations in `claimed` belong to the dispatcher of `epoch`. True if there may
-- be more. Only one does it at a time; who comes meanwhile has nothing to do.
--
-- The messages are locked, so that nobody changes them before their rows are there for him to change
-- too. One that somebody has locked already is left for the next look.
CREATE FUNCTION {s}.take_in(rows_max bigint, epoch bigint, claimed text[]) RETURNS boolean
 LANGUAGE plpgsql SET lock_timeout = '2s'
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$
DECLARE
 state {s}.outbox_intake;
 page record;
 is_begun boolean;
 broken text;
BEGIN
 SELECT * INTO state FROM {s}.outbox_intake FOR UPDATE SKIP LOCKED;
 IF NOT FOUND THEN
  INSERT INTO {s}.outbox_intake (server, seen, seen_but_for) SELECT 0, '1:1:', '{}'
   WHERE NOT EXISTS (SELECT 1 FROM {s}.outbox_intake) ON CONFLICT DO NOTHING;
  RETURN FOUND;
 END IF;
 IF NOT {s}.is_from_here(state) THEN
  state.server := (SELECT system_identifier FROM pg_control_system());
  state.seen := '1:1:';
  state.until := NULL;
 END IF;
 is_begun := state.until IS NOT NULL;
 IF NOT is_begun THEN
  state.until := pg_current_snapshot();
  -- What this transaction stores later on.
  state.until_but_for := ARRAY[pg_current_xact_id()];
  state.last_tx := '0';
  state.last_seq := 9223372036854775807;
 END IF;
 WITH arrived AS MATERIALIZED (
   (SELECT tx, seq, status, ctid AS place FROM {s}.outbox_messages
    WHERE tx = state.last_tx AND seq > state.last_seq ORDER BY seq LIMIT rows_max)
   UNION ALL SELECT m.* FROM {s}.unseen(state.seen, state.seen_but_for, state.until) AS r,
    LATERAL (SELECT tx, seq, status, ctid AS place FROM {s}.outbox_messages
     WHERE tx BETWEEN r.low AND r.high AND tx > state.last_tx
      AND (pg_visible_in_snapshot(tx, state.until) OR pg_snapshot_xmax(state.seen) = '1'
       OR tx = ANY (state.seen_but_for))
     ORDER BY tx, seq LIMIT rows_max) AS m
   ORDER BY tx, seq LIMIT rows_max),
  -- One lookup for each; of NOT EXISTS the server would make a look at all rows there are.
  wanted AS MATERIALIZED (SELECT tx, seq, place FROM arrived AS a WHERE CASE status
    WHEN 'Sent' THEN false
    WHEN 'Pending' THEN (SELECT d.seq FROM {s}.outbox_due AS d WHERE d.seq = a.seq) IS NULL
    ELSE (SELECT c.seq FROM {s}.outbox_closed AS c WHERE c.seq = a.seq) IS NULL END),
  held AS MATERIALIZED (SELECT status, seq, destination, tenant, priority, next_retry_at, expires_at,
    order_key
   FROM {s}.outbox_messages WHERE ctid = ANY (ARRAY(SELECT place FROM wanted)) AND status <> 'Sent'
   FOR SHARE SKIP LOCKED),
  filed AS (INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at,
    order_key, claim_epoch)
   SELECT seq, destination, coalesce(tenant, ''), priority, next_retry_at, expires_at,
    nullif(order_key, ''),
    CASE WHEN next_retry_at = 0 AND destination = ANY (claimed) THEN epoch END
   FROM held WHERE status = 'Pending'),
  closed AS (INSERT INTO {s}.outbox_closed (seq, status, at, destination, tenant, order_key)
   SELECT seq, status, {s}.to_ms(clock_timestamp()), destination, coalesce(tenant, ''),
    nullif(order_key, '') FROM held WHERE status <> 'Pending')
 SELECT (SELECT count(*) FROM arrived) AS rows, last.tx, last.seq, CASE
   WHEN (SELECT count(*) FROM wanted) > (SELECT count(*) FROM held) THEN
   ARRAY(SELECT DISTINCT tx FROM wanted WHERE seq NOT IN (SELECT seq FROM held)) END AS left_out
  INTO page FROM (SELECT) AS one LEFT JOIN (SELECT tx, seq FROM arrived ORDER BY tx DESC, seq DESC
   LIMIT 1) AS last ON true;
 state.until_but_for := state.until_but_for || page.left_out;
 IF page.rows < rows_max THEN
  UPDATE {s}.outbox_intake SET server = state.server, seen = state.until,
   seen_but_for = state.until_but_for, until = NULL, until_but_for = NULL;
  -- Since it began there may have been others; what is locked will be for a while.
  RETURN is_begun AND cardinality(state.until_but_for) = 1;
 END IF;
 UPDATE {s}.outbox_intake SET server = state.server, seen = state.seen, until = state.until,
  until_but_for = state.until_but_for, last_tx = page.tx, last_seq = page.seq;
 RETURN true;
EXCEPTION WHEN unique_violation THEN
 GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
 IF broken NOT IN ('outbox_due_pkey', 'outbox_closed_pkey') THEN RAISE; END IF;
 -- Somebody has changed one since the statement began, and made its row. The next look sees it.
 RETURN true;
END $$;

-- Of an order key or a dedupe key, for advisory locks; others' keys may fall together with it, which
-- costs a wait and nothing else.
CREATE FUNCTION {s}.key_lock(kind text, destination text, tenant text, key text) RETURNS bigint
 LANGUAGE sql STABLE AS
$$ SELECT hashtextextended(kind || chr(31) || destination || chr(31) || coalesce(tenant, '')
 || chr(31) || key, '{s}.outbox_messages'::regclass::oid::bigint) $$;

-- Whether an earlier message of an order key is in the way: one that is pending, or, unless the
-- policy lets its followers pass, one that was given up.
CREATE FUNCTION {s}.is_blocked(of_destination text, of_tenant text, of_key text, of_seq bigint)
 RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (SELECT 1 FROM {s}.outbox_due AS earlier
  WHERE earlier.destination = of_destination AND earlier.order_key = of_key
  AND earlier.tenant = coalesce(of_tenant, '') AND earlier.seq < of_seq)
 OR (NOT EXISTS (SELECT 1 FROM {s}.posthorn_meta WHERE name = 'order_policy' AND value = 'pass')
  AND EXISTS (SELECT 1 FROM {s}.outbox_closed AS earlier
   WHERE earlier.destination = of_destination AND earlier.order_key = of_key
   AND earlier.tenant = coalesce(of_tenant, '') AND earlier.status IN ('Dead', 'Expired')
   AND earlier.seq < of_seq)) $$;

-- Whether the dispatcher of an epoch is there. Volatile, so that it sees what was committed while the
-- statement that asks was running.
CREATE FUNCTION {s}.is_seated(of_epoch bigint) RETURNS boolean LANGUAGE plpgsql VOLATILE AS
$$ BEGIN RETURN EXISTS (SELECT 1 FROM {s}.posthorn_leases WHERE epoch = of_epoch
  AND owner IS NOT NULL AND name LIKE 'dispatcher/%'); END $$;

-- The epoch of the dispatcher whose session this is, if it takes messages right away.
CREATE FUNCTION {s}.claimant() RETURNS bigint LANGUAGE sql STABLE
 RETURN nullif(current_setting('posthorn.claim', true), '')::bigint;

-- What is wrong with a message, for whoever wrote it; NULL if nothing is.
CREATE FUNCTION {s}.broken_rule(seq bigint, status text, expires_at bigint, has_payload boolean,
  names text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE
 WHEN seq NOT BETWEEN 1 AND 4611686018427387903 THEN 'seq is given by the table: leave it out'
 WHEN status NOT IN ('Pending', 'Sent', 'Dead', 'Expired', 'Resolved')
  THEN 'status must be Pending, Sent, Dead, Expired or Resolved'
 WHEN expires_at <= 0 THEN 'expires_at must be a time in UTC milliseconds'
 WHEN NOT has_payload THEN 'a message needs a payload, or payload_bytes'
 WHEN octet_length(names) > 2048
  THEN 'destination, tenant and order_key have 2048 bytes together, and no more' END $$;

-- A message that asks for more than to be sent, as it is to be stored. That it is in the way of others
-- of its order key must be known with it, so it gets its row in outbox_due; that one goes again if an
-- ON CONFLICT keeps the message out.
CREATE FUNCTION {s}.arranged(arrived {s}.outbox_messages)
 RETURNS {s}.outbox_messages
 SET enable_seqscan = off SET jit = off
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
DECLARE
 first_id text;
 why text;
BEGIN
 IF length(arrived.message_id) = 32 THEN
  arrived.message_id := substr(arrived.message_id, 1, 8) || '-' || substr(arrived.message_id, 9, 4)
   || '-' || substr(arrived.message_id, 13, 4) || '-' || substr(arrived.message_id, 17, 4) || '-'
   || substr(arrived.message_id, 21);
 END IF;
 arrived.message_id := lower(arrived.message_id);
 arrived.tx := pg_current_xact_id();
 -- The numbers of a key are in the order of its commits: one that was drawn before another had the
 -- lock is drawn anew, if that one is still to be waited for.
 IF arrived.order_key <> '' THEN
  PERFORM pg_advisory_xact_lock(
   {s}.key_lock('o', arrived.destination, arrived.tenant, arrived.order_key));
  IF EXISTS (SELECT 1 FROM {s}.outbox_due AS d WHERE d.destination = arrived.destination
    AND d.order_key = arrived.order_key AND d.tenant = coalesce(arrived.tenant, '')
    AND d.seq > arrived.seq)
   OR EXISTS (SELECT 1 FROM {s}.outbox_closed AS c WHERE c.destination = arrived.destination
    AND c.order_key = arrived.order_key AND c.tenant = coalesce(arrived.tenant, '')
    AND c.status IN ('Dead', 'Expired') AND c.seq > arrived.seq) THEN
   arrived.seq := nextval('{s}.outbox_seq');
  END IF;
 END IF;
 IF arrived.dedupe_key <> '' AND arrived.status = 'Pending' THEN
  PERFORM pg_advisory_xact_lock({s}.key_lock('d', arrived.destination, '', arrived.dedupe_key));
  SELECT message_id INTO first_id FROM {s}.outbox_messages
   WHERE destination = arrived.destination AND dedupe_key = arrived.dedupe_key ORDER BY seq LIMIT 1;
  IF FOUND AND first_id <> arrived.message_id THEN
   arrived.status := 'Resolved';
   arrived.resolution := 'repeats ' || first_id;
  END IF;
 END IF;
 arrived.next_retry_at := greatest(arrived.next_retry_at, arrived.deliver_at);
 IF arrived.order_key <> '' AND arrived.status = 'Pending'
  AND {s}.is_blocked(arrived.destination, arrived.tenant, arrived.order_key, arrived.seq) THEN
  arrived.next_retry_at := greatest(arrived.next_retry_at, arrived.expires_at);
 END IF;
 why := {s}.broken_rule(arrived.seq, arrived.status, arrived.expires_at,
  arrived.payload IS NOT NULL OR arrived.payload_bytes IS NOT NULL,
  concat(arrived.destination, arrived.tenant, arrived.order_key));
 IF why IS NOT NULL THEN RAISE check_violation USING MESSAGE = why; END IF;
 IF arrived.order_key <> '' AND arrived.status = 'Pending'
  AND NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.message_id = arrived.message_id)
  AND NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = arrived.seq) THEN
  SET CONSTRAINTS {s}.due_row_came DEFERRED;
  INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at, order_key,
    claim_epoch)
   VALUES (arrived.seq, arrived.destination, coalesce(arrived.tenant, ''), arrived.priority,
    arrived.next_retry_at, arrived.expires_at, arrived.order_key,
    CASE WHEN arrived.next_retry_at = 0 THEN {s}.claimant() END);
 END IF;
 RETURN arrived;
END $$;

-- Most messages ask for nothing more, and keep the rules: take_in does the rest, for many at a time. A
-- fixed search_path would be set and taken back for each of them; every name has its schema instead,
-- operators too.
CREATE FUNCTION {s}.outbox_arrival() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
$$
BEGIN
 IF NEW.order_key IS NULL AND NEW.dedupe_key IS NULL AND NEW.deliver_at IS NULL
  AND pg_catalog.octet_length(NEW.message_id) OPERATOR(pg_catalog.=) 36
  AND pg_catalog.lower(NEW.message_id) OPERATOR(pg_catalog.=) NEW.message_id
  AND NEW.status OPERATOR(pg_catalog.=) 'Pending' AND NEW.expires_at OPERATOR(pg_catalog.>) 0
  AND (NEW.payload IS NOT NULL OR NEW.payload_bytes IS NOT NULL)
  AND pg_catalog.octet_length(NEW.destination) OPERATOR(pg_catalog.<=) 255
  AND (NEW.tenant IS NULL OR pg_catalog.octet_length(NEW.tenant) OPERATOR(pg_catalog.<=) 1024)
  AND NEW.seq OPERATOR(pg_catalog.>) 0 AND NEW.seq OPERATOR(pg_catalog.<=) 4611686018427387903
  AND NEW.tx OPERATOR(pg_catalog.=) pg_catalog.pg_current_xact_id() THEN
  RETURN NEW;
 END IF;
 NEW := {s}.arranged(NEW);
 RETURN NEW;
END $$;
CREATE TRIGGER outbox_arrival BEFORE INSERT ON {s}.outbox_messages FOR EACH ROW
 EXECUTE FUNCTION {s}.outbox_arrival();

CREATE FUNCTION {s}.due_row_came() RETURNS trigger
 SET enable_seqscan = off SET jit = off
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
BEGIN
 DELETE FROM {s}.outbox_due AS d WHERE d.seq = NEW.seq AND NOT EXISTS (
  SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = d.seq AND m.destination = d.destination
   AND coalesce(m.tenant, '') = d.tenant AND nullif(m.order_key, '') IS NOT DISTINCT FROM d.order_key);
 RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER due_row_came AFTER INSERT ON {s}.outbox_due
 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.order_key IS NOT NULL)
 EXECUTE FUNCTION {s}.due_row_came();

-- Rows of other tables are found by lists of seqs, which is by index: for a join the server may read
-- all there are. Plans are kept: one that was made for a statement with a row must do for another with
-- a hundred thousand.
CREATE FUNCTION {s}.outbox_changed() RETURNS trigger
 SET enable_seqscan = off SET enable_nestloop = off SET jit = off
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
DECLARE
 why text;
BEGIN
 DELETE FROM {s}.outbox_due
  WHERE seq = ANY (ARRAY(SELECT seq FROM after_rows WHERE status <> 'Pending'));
 -- Most are sent, and were pending.
 IF NOT EXISTS (SELECT 1 FROM after_rows
    WHERE status <> 'Sent' OR expires_at <= 0 OR (payload IS NULL AND payload_bytes IS NULL))
  AND NOT EXISTS (SELECT 1 FROM before_rows WHERE status <> 'Pending') THEN RETURN NULL; END IF;
 SELECT min({s}.broken_rule(seq, status, expires_at, payload IS NOT NULL OR payload_bytes IS NOT NULL,
   concat(destination, tenant, order_key))) INTO why FROM after_rows;
 IF why IS NOT NULL THEN RAISE check_violation USING MESSAGE = why; END IF;
 -- It cannot see a row that has been made since it began.
 IF current_setting('transaction_isolation') <> 'read committed' AND EXISTS (SELECT 1
   FROM before_rows AS b WHERE b.status = 'Pending' AND b.tx <> pg_current_xact_id()
    AND (SELECT d.seq FROM {s}.outbox_due AS d WHERE d.seq = b.seq) IS NULL) THEN
  RAISE serialization_failure USING MESSAGE = 'a message is being taken in that was not when this'
   ' transaction began; run it again, or in READ COMMITTED';
 END IF;
 UPDATE {s}.outbox_due AS due SET destination = a.destination, tenant = coalesce(a.tenant, ''),
  priority = a.priority, next_retry_at = a.next_retry_at, expires_at = a.expires_at,
  order_key = nullif(a.order_key, ''), claim_epoch = NULL
  FROM after_rows AS a WHERE due.seq = a.seq AND a.status = 'Pending'
  AND due.seq = ANY (ARRAY(SELECT seq FROM after_rows WHERE status = 'Pending'))
  AND (due.next_retry_at, due.destination, due.tenant, due.priority, due.expires_at, due.order_key)
   IS DISTINCT FROM (a.next_retry_at, a.destination, coalesce(a.tenant, ''), a.priority,
    a.expires_at, nullif(a.order_key, ''));
 INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at, order_key)
  SELECT a.seq, a.destination, coalesce(a.tenant, ''), a.priority, a.next_retry_at, a.expires_at,
   nullif(a.order_key, '') FROM after_rows AS a JOIN before_rows AS b USING (seq)
  WHERE a.status = 'Pending' AND b.status <> 'Pending'
  -- One that take_in made while the message was closed; whoever is about to remove it has to wait.
  ON CONFLICT (seq) DO UPDATE SET claim_epoch = NULL;
 DELETE FROM {s}.outbox_closed WHERE seq = ANY (ARRAY(
  SELECT a.seq FROM after_rows AS a JOIN before_rows AS b USING (seq) WHERE a.status <> b.status));
 INSERT INTO {s}.outbox_closed (seq, status, at, destination, tenant, order_key)
  SELECT a.seq, a.status, {s}.to_ms(clock_timestamp()), a.destination, coalesce(a.tenant, ''),
   nullif(a.order_key, '') FROM after_rows AS a JOIN before_rows AS b USING (seq)
  WHERE a.status <> b.status AND a.status IN ('Dead', 'Expired', 'Resolved')
  ON CONFLICT DO NOTHING;
 UPDATE {s}.outbox_closed AS closed SET destination = a.destination, tenant = coalesce(a.tenant, ''),
  order_key = nullif(a.order_key, '') FROM after_rows AS a
  WHERE closed.seq = a.seq AND closed.seq = ANY (ARRAY(SELECT seq FROM after_rows))
  AND (closed.destination, closed.tenant, closed.order_key)
   IS DISTINCT FROM (a.destination, coalesce(a.tenant, ''), nullif(a.order_key, ''));
 RETURN NULL;
END $$;
CREATE TRIGGER outbox_changed AFTER UPDATE ON {s}.outbox_messages
 REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT
 EXECUTE FUNCTION {s}.outbox_changed();

CREATE FUNCTION {s}.outbox_gone() RETURNS trigger
 SET enable_seqscan = off SET jit = off
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
DECLARE
 gone bigint[] := ARRAY(SELECT seq FROM before_rows);
BEGIN
 DELETE FROM {s}.outbox_due WHERE seq = ANY (gone);
 DELETE FROM {s}.outbox_attempts WHERE seq = ANY (gone);
 IF EXISTS (SELECT 1 FROM before_rows WHERE status <> 'Sent') THEN
  DELETE FROM {s}.outbox_closed WHERE seq = ANY (gone);
  DELETE FROM {s}.outbox_ended WHERE seq = ANY (gone);
 END IF;
 RETURN NULL;
END $$;
CREATE TRIGGER outbox_gone AFTER DELETE ON {s}.outbox_messages
 REFERENCING OLD TABLE AS before_rows FOR EACH STATEMENT EXECUTE FUNCTION {s}.outbox_gone();

-- What somebody changed on purpose has no checksum.
CREATE FUNCTION {s}.outbox_unseal() RETURNS trigger
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$ BEGIN NEW.checksum := NULL; RETURN NEW; END $$;
CREATE TRIGGER outbox_unseal BEFORE UPDATE OF message_id, message_type, destination, endpoint,
 payload, payload_bytes, content_type, headers, correlation_id, tenant, order_key, parent_id,
 causation_id, created_at, expires_at ON {s}.outbox_messages FOR EACH ROW
 WHEN (NEW.checksum IS NOT NULL) EXECUTE FUNCTION {s}.outbox_unseal();

CREATE FUNCTION {s}.cause_counted() RETURNS trigger
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
BEGIN
 IF TG_OP <> 'INSERT' AND OLD.cause_id IS NOT NULL THEN
  UPDATE {s}.outbox_causes SET dead = dead - 1 WHERE cause_id = OLD.cause_id;
 END IF;
 IF TG_OP <> 'DELETE' AND NEW.cause_id IS NOT NULL THEN
  UPDATE {s}.outbox_causes SET dead = dead + 1, last_at = greatest(last_at, NEW.at)
   WHERE cause_id = NEW.cause_id;
 END IF;
 RETURN NULL;
END $$;
CREATE TRIGGER cause_up AFTER INSERT ON {s}.outbox_closed FOR EACH ROW
 WHEN (NEW.cause_id IS NOT NULL) EXECUTE FUNCTION {s}.cause_counted();
CREATE TRIGGER cause_down AFTER DELETE ON {s}.outbox_closed FOR EACH ROW
 WHEN (OLD.cause_id IS NOT NULL) EXECUTE FUNCTION {s}.cause_counted();
CREATE TRIGGER cause_moved AFTER UPDATE OF cause_id ON {s}.outbox_closed FOR EACH ROW
 WHEN (NEW.cause_id IS DISTINCT FROM OLD.cause_id) EXECUTE FUNCTION {s}.cause_counted();

-- Or whoever may use the schema could make triggers of them on a table of his own, with rows and types
-- of his own, and have the owner's rights. Whom a trigger runs for is not asked.
REVOKE EXECUTE ON FUNCTION {s}.arranged({s}.outbox_messages), {s}.outbox_arrival(),
 {s}.due_row_came(), {s}.outbox_changed(), {s}.outbox_gone(), {s}.outbox_unseal(),
 {s}.cause_counted() FROM PUBLIC;

-- None beyond the years 1 to 9999, which a producer may have written: one such row would otherwise
-- make a whole view unreadable.
CREATE FUNCTION {s}.time_of(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN ms BETWEEN -62135596800000 AND 253402300799999
 THEN to_timestamp(ms / 1000.0) END $$;

CREATE FUNCTION {s}.iso(ms bigint) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT to_char({s}.time_of(ms) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- None of headers that are not JSON, for the same reason.
CREATE FUNCTION {s}.header_of(headers text, name text) RETURNS text LANGUAGE plpgsql STABLE AS
$$
BEGIN
 IF headers IS NULL THEN RETURN NULL; END IF;
 RETURN headers::json ->> name;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN RETURN NULL;
END $$;

CREATE VIEW {s}.posthorn_outbox AS SELECT seq, message_id, message_type, destination, endpoint,
 status, retry_count, max_retries, last_error, correlation_id, tenant, order_key, payload,
 payload_bytes, headers, resolution, {s}.iso(created_at) AS created_at,
 {s}.iso(expires_at) AS expires_at, {s}.iso(next_retry_at) AS next_retry_at,
 {s}.iso(last_attempt_at) AS last_attempt_at, {s}.iso(sent_at) AS sent_at
 FROM {s}.outbox_messages;
CREATE VIEW {s}.posthorn_inbox AS SELECT source_service_id, message_id, endpoint,
 encode(response_payload, 'escape') AS response_payload, {s}.iso(processed_at) AS processed_at,
 {s}.iso(expires_at) AS expires_at FROM {s}.inbox_messages;

-- The same messages under the other documents' names.
CREATE VIEW {s}.posthorn_events AS SELECT message_id AS "Id", endpoint AS "EventType",
 payload AS "Payload", correlation_id AS "CorrelationId", last_error AS "Error",
 retry_count AS "RetryCount",
 CASE status WHEN 'Sent' THEN 'Published' WHEN 'Dead' THEN 'DeadLetter' ELSE status END AS "Status",
 {s}.iso(created_at) AS "CreatedAt", {s}.iso(sent_at) AS "PublishedAt" FROM {s}.outbox_messages;
CREATE VIEW {s}.posthorn_calls AS SELECT message_id AS "CallId", endpoint AS "MethodName",
 payload AS "Payload", retry_count AS "Retries",
 CASE status WHEN 'Sent' THEN 'Completed' WHEN 'Dead' THEN 'DeadLetter' ELSE status END AS "Status",
 {s}.iso(expires_at) AS "ExpiresAt" FROM {s}.outbox_messages;

-- 0 Pending, 1 Processing, 3 Delivered, 4 Failed, 5 DeadLettered. A claim counts as long as the
-- dispatcher that made it has its seat.
CREATE VIEW {s}."OutboxMessages" AS SELECT m.message_id AS "Id", m.endpoint AS "EventType",
 coalesce(m.payload, encode(m.payload_bytes, 'escape')) AS "Payload",
 m.correlation_id AS "CorrelationId",
 substring({s}.header_of(m.headers, 'traceparent')
  FROM '^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$') AS "TraceId",
 CASE m.status WHEN 'Sent' THEN 3 WHEN 'Dead' THEN 5
  WHEN 'Pending' THEN CASE WHEN sender.owner IS NULL THEN 0 ELSE 1 END ELSE 4 END AS "Status",
 m.retry_count AS "RetryCount", {s}.time_of(m.created_at) AS "CreatedAt",
 {s}.time_of(m.sent_at) AS "ProcessedAt", NULL::timestamptz AS "LockedUntil",
 sender.owner AS "LockedBy",
 CASE WHEN m.status = 'Pending' AND m.next_retry_at > 0 THEN {s}.time_of(m.next_retry_at) END
  AS "NextRetryAt",
 m.last_error AS "LastError", m.headers AS "Headers", m.tenant AS "TenantId",
 {s}.header_of(m.headers, 'user-id') AS "UserId", m.order_key AS "EntityId"
 FROM {s}.outbox_messages AS m LEFT JOIN {s}.outbox_due AS due USING (seq)
 LEFT JOIN {s}.posthorn_leases AS sender
  ON sender.epoch = due.claim_epoch AND sender.name LIKE 'dispatcher/%';

-- 1 Success, 2 Failed, 3 DeadLettered. Failed attempts have rows of their own; the one that succeeded
-- is what made the message Sent.
CREATE VIEW {s}."DeliveryAttempts" AS
 SELECT m.message_id || ':' || a.attempt AS "Id", m.message_id AS "OutboxMessageId",
  NULL::text AS "WebhookSubscriptionId", a.attempt AS "AttemptNumber",
  CASE WHEN m.status = 'Dead' AND a.is_last THEN 3 ELSE 2 END AS "Status",
  NULL::integer AS "HttpStatusCode", NULL::text AS "ResponseBody", a.error AS "ErrorMessage",
  NULL::bigint AS "DurationMs", {s}.time_of(a.at) AS "AttemptedAt",
  CASE WHEN m.status = 'Pending' AND a.is_last AND m.next_retry_at > 0
   THEN {s}.time_of(m.next_retry_at) END AS "NextRetryAt"
 FROM (SELECT seq, attempt, at, error, NOT EXISTS (SELECT 1 FROM {s}.outbox_attempts AS later
   WHERE later.seq = tried.seq AND later.attempt > tried.attempt) AS is_last
  FROM {s}.outbox_attempts AS tried) AS a JOIN {s}.outbox_messages AS m USING (seq)
 UNION ALL
 SELECT m.message_id || ':' || m.attempt, m.message_id, NULL, m.attempt, 1, NULL, NULL, NULL, NULL,
  {s}.time_of(m.sent_at), NULL
 FROM (SELECT message_id, sent_at, coalesce((SELECT max(attempt) FROM {s}.outbox_attempts AS tried
   WHERE tried.seq = sent.seq), 0) + 1 AS attempt
  FROM {s}.outbox_messages AS sent WHERE status = 'Sent') AS m;

INSERT INTO {s}.posthorn_migrations VALUES ('store', 1, 1763000000000);
INSERT INTO {s}.outbox_messages (message_id, destination, endpoint, payload, created_at, expires_at)
 VALUES ('01900000-0000-7000-8000-000000000004', 'inventory', 'OrderApproved', '{}', 1763000000000, 4102444800000);
-- What is due after it has expired would be looked at only then. Now it expires at its time.
CREATE FUNCTION {s}.due_in_time() RETURNS trigger LANGUAGE plpgsql
 SET search_path = pg_catalog, pg_temp AS
$$
BEGIN
 NEW.next_retry_at := NEW.expires_at;
 RETURN NEW;
END $$;
CREATE TRIGGER due_in_time BEFORE INSERT OR UPDATE OF next_retry_at, expires_at ON {s}.outbox_due
 FOR EACH ROW WHEN (NEW.next_retry_at > NEW.expires_at) EXECUTE FUNCTION {s}.due_in_time();
UPDATE {s}.outbox_due SET next_retry_at = expires_at WHERE next_retry_at > expires_at;
REVOKE EXECUTE ON FUNCTION {s}.due_in_time() FROM PUBLIC;
INSERT INTO {s}.posthorn_migrations VALUES ('store', 2, 1763000000000);
-- As it was, but that deliveries to subscribers pass those that were given up: an endpoint that was
-- down for days shall not miss what comes after. What waits for one is found by the look at order
-- keys.
CREATE OR REPLACE FUNCTION {s}.is_blocked(of_destination text, of_tenant text, of_key text,
  of_seq bigint) RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (SELECT 1 FROM {s}.outbox_due AS earlier
  WHERE earlier.destination = of_destination AND earlier.order_key = of_key
  AND earlier.tenant = coalesce(of_tenant, '') AND earlier.seq < of_seq)
 OR (NOT starts_with(of_destination, 'webhook:')
  AND NOT EXISTS (SELECT 1 FROM {s}.posthorn_meta WHERE name = 'order_policy' AND value = 'pass')
  AND EXISTS (SELECT 1 FROM {s}.outbox_closed AS earlier
   WHERE earlier.destination = of_destination AND earlier.order_key = of_key
   AND earlier.tenant = coalesce(of_tenant, '') AND earlier.status IN ('Dead', 'Expired')
   AND earlier.seq < of_seq)) $$;
INSERT INTO {s}.posthorn_migrations VALUES ('store', 3, 1763000000000);
-- Messages whose row outbox_due or outbox_closed would not take, as a trigger of the user's may have
-- it, and when that was tried last. They are tried again, a few at a time, and hold up no others.
CREATE TABLE {s}.outbox_odd (
 seq bigint PRIMARY KEY,
 why text NOT NULL,
 tried_at bigint NOT NULL);
CREATE INDEX outbox_odd_tried ON {s}.outbox_odd (tried_at, seq);

-- As it was, and true as long as one is odd.
CREATE OR REPLACE FUNCTION {s}.has_arrivals() RETURNS boolean LANGUAGE plpgsql STABLE
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$
DECLARE
 state {s}.outbox_intake;
BEGIN
 SELECT * INTO state FROM {s}.outbox_intake;
 IF NOT FOUND OR state.until IS NOT NULL OR NOT {s}.is_from_here(state) THEN RETURN true; END IF;
 IF EXISTS (SELECT 1 FROM {s}.outbox_odd) THEN RETURN true; END IF;
 RETURN EXISTS (SELECT 1 FROM {s}.unseen(state.seen, state.seen_but_for, pg_current_snapshot()) AS r,
  LATERAL (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.tx BETWEEN r.low AND r.high LIMIT 1) AS one);
END $$;

-- As it was, and the odd ones.
CREATE OR REPLACE FUNCTION {s}.arrivals() RETURNS TABLE (status text, seq bigint, destination text,
 tenant text, priority bigint, next_retry_at bigint, expires_at bigint, order_key text)
 LANGUAGE sql STABLE
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$ SELECT m.status, m.seq, m.destination, coalesce(m.tenant, ''), m.priority, m.next_retry_at,
  m.expires_at, nullif(m.order_key, '')
 FROM (SELECT m.* FROM {s}.outbox_intake AS i,
   {s}.unseen({s}.known(i), i.seen_but_for, pg_current_snapshot()) AS r,
   LATERAL (SELECT * FROM {s}.outbox_messages AS m WHERE m.tx BETWEEN r.low AND r.high OFFSET 0) AS m
   WHERE NOT EXISTS (SELECT 1 FROM {s}.outbox_odd AS o WHERE o.seq = m.seq)
  UNION ALL SELECT m.* FROM {s}.outbox_odd AS o JOIN {s}.outbox_messages AS m USING (seq)) AS m
 WHERE m.status <> 'Sent' AND NOT EXISTS (SELECT 1 FROM {s}.outbox_due AS d WHERE d.seq = m.seq)
  AND NOT EXISTS (SELECT 1 FROM {s}.outbox_closed AS c WHERE c.seq = m.seq) $$;

-- Makes the row of one message, or notes why that cannot be. False if the message is locked.
-- What is wrong with the server, or with a lock, is not the message's fault.
CREATE FUNCTION {s}.take_in_one(of_seq bigint, epoch bigint, claimed text[]) RETURNS boolean
 LANGUAGE plpgsql AS
$$
DECLARE
 m {s}.outbox_messages;
 kept bigint;
BEGIN
 SELECT * INTO m FROM {s}.outbox_messages WHERE seq = of_seq AND status <> 'Sent'
  FOR SHARE SKIP LOCKED;
 IF NOT FOUND AND EXISTS (SELECT 1 FROM {s}.outbox_messages WHERE seq = of_seq
   AND status <> 'Sent') THEN
  RETURN false;
 ELSIF m.status = 'Pending' THEN
  INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at,
    order_key, claim_epoch)
   VALUES (m.seq, m.destination, coalesce(m.tenant, ''), m.priority, m.next_retry_at, m.expires_at,
    nullif(m.order_key, ''),
    CASE WHEN m.next_retry_at = 0 AND m.destination = ANY (claimed) THEN epoch END)
   ON CONFLICT (seq) DO NOTHING;
  SELECT seq INTO kept FROM {s}.outbox_due WHERE seq = of_seq;
 ELSIF m.seq IS NOT NULL THEN
  INSERT INTO {s}.outbox_closed (seq, status, at, destination, tenant, order_key)
   VALUES (m.seq, m.status, {s}.to_ms(clock_timestamp()), m.destination, coalesce(m.tenant, ''),
    nullif(m.order_key, ''))
   ON CONFLICT (seq) DO NOTHING;
  SELECT seq INTO kept FROM {s}.outbox_closed WHERE seq = of_seq;
 END IF;
 IF m.seq IS NOT NULL AND kept IS NULL THEN RAISE 'the row vanished without an error'; END IF;
 DELETE FROM {s}.outbox_odd WHERE seq = of_seq;
 RETURN true;
EXCEPTION WHEN OTHERS THEN
 IF left(SQLSTATE, 2) IN ('40', '53', '55', '57', '58', 'XX') THEN RAISE; END IF;
 INSERT INTO {s}.outbox_odd (seq, why, tried_at)
  VALUES (of_seq, SQLERRM, {s}.to_ms(clock_timestamp()))
  ON CONFLICT (seq) DO UPDATE SET why = excluded.why, tried_at = excluded.tried_at;
 IF NOT FOUND THEN RAISE; END IF;
 RETURN true;
END $$;

-- The first that is odd, and why; NULL if none is. Volatile, so that it sees what take_in has done in
-- the same statement.
CREATE FUNCTION {s}.odd_arrival() RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ BEGIN RETURN (SELECT seq || ': ' || why FROM {s}.outbox_odd ORDER BY seq LIMIT 1); END $$;

-- As it was, but that a page which cannot be taken in whole is taken in one by one.
CREATE OR REPLACE FUNCTION {s}.take_in(rows_max bigint, epoch bigint, claimed text[]) RETURNS boolean
 LANGUAGE plpgsql SET lock_timeout = '2s'
 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
 SET enable_mergejoin = off SET enable_tidscan = on SET jit = off AS
$$
DECLARE
 state {s}.outbox_intake;
 page record;
 is_begun boolean;
 is_apart boolean := false;
 is_freed boolean;
 odd bigint[];
 broken text;
 locked bigint[];
BEGIN
 SELECT * INTO state FROM {s}.outbox_intake FOR UPDATE SKIP LOCKED;
 IF NOT FOUND THEN
  INSERT INTO {s}.outbox_intake (server, seen, seen_but_for) SELECT 0, '1:1:', '{}'
   WHERE NOT EXISTS (SELECT 1 FROM {s}.outbox_intake) ON CONFLICT DO NOTHING;
  RETURN FOUND;
 END IF;
 IF NOT {s}.is_from_here(state) THEN
  state.server := (SELECT system_identifier FROM pg_control_system());
  state.seen := '1:1:';
  state.until := NULL;
 END IF;
 odd := ARRAY(SELECT seq FROM {s}.outbox_odd
  WHERE tried_at NOT BETWEEN {s}.to_ms(clock_timestamp()) - 1000 AND {s}.to_ms(clock_timestamp())
  ORDER BY tried_at, seq LIMIT 20);
 PERFORM {s}.take_in_one(one, epoch, claimed) FROM unnest(odd) AS one;
 -- Nothing is in their way any longer, so the next ones need not wait for the next look.
 is_freed := cardinality(odd) = 20
  AND NOT EXISTS (SELECT 1 FROM {s}.outbox_odd WHERE seq = ANY (odd));
 is_begun := state.until IS NOT NULL;
 IF NOT is_begun THEN
  state.until := pg_current_snapshot();
  -- What this transaction stores later on.
  state.until_but_for := ARRAY[pg_current_xact_id()];
  state.last_tx := '0';
  state.last_seq := 9223372036854775807;
 END IF;
 LOOP
  BEGIN
   WITH arrived AS MATERIALIZED (
     (SELECT tx, seq, status, ctid AS place FROM {s}.outbox_messages
      WHERE tx = state.last_tx AND seq > state.last_seq ORDER BY seq LIMIT rows_max)
     UNION ALL SELECT m.* FROM {s}.unseen(state.seen, state.seen_but_for, state.until) AS r,
      LATERAL (SELECT tx, seq, status, ctid AS place FROM {s}.outbox_messages
       WHERE tx BETWEEN r.low AND r.high AND tx > state.last_tx
        AND (pg_visible_in_snapshot(tx, state.until) OR pg_snapshot_xmax(state.seen) = '1'
         OR tx = ANY (state.seen_but_for))
       ORDER BY tx, seq LIMIT rows_max) AS m
     ORDER BY tx, seq LIMIT rows_max),
    -- One lookup for each; of NOT EXISTS the server would make a look at all rows there are.
    wanted AS MATERIALIZED (SELECT tx, seq, place FROM arrived AS a WHERE CASE status
      WHEN 'Sent' THEN false
      WHEN 'Pending' THEN (SELECT d.seq FROM {s}.outbox_due AS d WHERE d.seq = a.seq) IS NULL
      ELSE (SELECT c.seq FROM {s}.outbox_closed AS c WHERE c.seq = a.seq) IS NULL END),
    held AS MATERIALIZED (SELECT status, seq, destination, tenant, priority, next_retry_at,
      expires_at, order_key
     FROM {s}.outbox_messages WHERE NOT is_apart AND ctid = ANY (ARRAY(SELECT place FROM wanted))
      AND status <> 'Sent'
     FOR SHARE SKIP LOCKED),
    filed AS (INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at,
      expires_at, order_key, claim_epoch)
     SELECT seq, destination, coalesce(tenant, ''), priority, next_retry_at, expires_at,
      nullif(order_key, ''),
      CASE WHEN next_retry_at = 0 AND destination = ANY (claimed) THEN epoch END
     FROM held WHERE status = 'Pending' RETURNING 1),
    closed AS (INSERT INTO {s}.outbox_closed (seq, status, at, destination, tenant, order_key)
     SELECT seq, status, {s}.to_ms(clock_timestamp()), destination, coalesce(tenant, ''),
      nullif(order_key, '') FROM held WHERE status <> 'Pending' RETURNING 1)
   SELECT (SELECT count(*) FROM arrived) AS rows, last.tx, last.seq,
     CASE WHEN is_apart THEN ARRAY(SELECT seq FROM wanted ORDER BY tx, seq) END AS apart,
     (SELECT count(*) FROM held) - (SELECT count(*) FROM filed) - (SELECT count(*) FROM closed)
      AS vanished,
     CASE WHEN NOT is_apart AND (SELECT count(*) FROM wanted) > (SELECT count(*) FROM held) THEN
     ARRAY(SELECT DISTINCT tx FROM wanted WHERE seq NOT IN (SELECT seq FROM held)) END AS left_out
    INTO page FROM (SELECT) AS one LEFT JOIN (SELECT tx, seq FROM arrived ORDER BY tx DESC, seq DESC
     LIMIT 1) AS last ON true;
   IF page.vanished > 0 THEN RAISE 'rows vanished without an error'; END IF;
   EXIT;
  EXCEPTION WHEN OTHERS THEN
   GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
   -- Another has changed one since the statement began, and made its row. The next look sees it.
   IF SQLSTATE = '23505' AND broken IN ('outbox_due_pkey', 'outbox_closed_pkey') THEN
    RETURN true;
   END IF;
   IF is_apart OR left(SQLSTATE, 2) IN ('40', '53', '55', '57', '58', 'XX') THEN RAISE; END IF;
   is_apart := true;
  END;
 END LOOP;
 IF is_apart THEN
  locked := ARRAY(SELECT one FROM unnest(page.apart) AS one
   WHERE NOT {s}.take_in_one(one, epoch, claimed));
  page.left_out := ARRAY(SELECT DISTINCT tx FROM {s}.outbox_messages WHERE seq = ANY (locked));
 END IF;
 state.until_but_for := state.until_but_for || page.left_out;
 IF page.rows < rows_max THEN
  UPDATE {s}.outbox_intake SET server = state.server, seen = state.until,
   seen_but_for = state.until_but_for, until = NULL, until_but_for = NULL;
  -- Since it began there may have been others; what is locked will be for a while.
  RETURN is_freed OR (is_begun AND cardinality(state.until_but_for) = 1);
 END IF;
 UPDATE {s}.outbox_intake SET server = state.server, seen = state.seen, until = state.until,
  until_but_for = state.until_but_for, last_tx = page.tx, last_seq = page.seq;
 RETURN true;
END $$;
INSERT INTO {s}.posthorn_migrations VALUES ('store', 4, 1763000000000);
