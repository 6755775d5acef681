// How messages that plain SQL has stored get their row in outbox_due: many at a time, by a node, so
// that producers need not write it.
//
// Numbers of a sequence become visible in any order, and so do transactions. What is new since the
// last look is what belongs to a transaction that was not over then and is now, as two snapshots
// tell exactly, however long it took.
#include "store/postgres/schema/tables.hpp"

namespace posthorn::postgres {

// Functions that SET what a plan may do go by index, however large the table is, and whatever is
// known of it. What is not by index counts as so dear that it would be compiled first.
const std::string_view intake_definitions = R"sql(
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
)sql";

const std::string_view odd_definitions = R"sql(
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
)sql";

}  // namespace posthorn::postgres
