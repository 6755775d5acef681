// What a producer with plain SQL need not know, and what a person who changes rows by hand need not
// do. The functions run with the rights of their owner, so that who may INSERT a message needs no
// right on any other table; their search_path is fixed for that reason.
#include "store/postgres/schema/tables.hpp"

namespace posthorn::postgres {

const std::string_view trigger_definitions = R"sql(
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
)sql";

const std::string_view time_definitions = R"sql(
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
)sql";

const std::string_view passing_definitions = R"sql(
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
)sql";

const std::string_view count_definitions = R"sql(
-- As it was, and never past the end of what a number holds; what is wrong is counted anew in time.
CREATE OR REPLACE FUNCTION {s}.cause_counted() RETURNS trigger
 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS
$$
BEGIN
 IF TG_OP <> 'INSERT' AND OLD.cause_id IS NOT NULL THEN
  UPDATE {s}.outbox_causes SET dead = greatest(dead, -4611686018427387904) - 1
   WHERE cause_id = OLD.cause_id;
 END IF;
 IF TG_OP <> 'DELETE' AND NEW.cause_id IS NOT NULL THEN
  UPDATE {s}.outbox_causes SET dead = least(dead, 4611686018427387903) + 1,
   last_at = greatest(last_at, NEW.at) WHERE cause_id = NEW.cause_id;
 END IF;
 RETURN NULL;
END $$;
)sql";

}  // namespace posthorn::postgres
