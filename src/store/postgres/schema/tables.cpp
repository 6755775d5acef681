// The tables of the store. Names of columns are those of SQLite's; times are integer UTC
// milliseconds.
#include "store/postgres/schema/tables.hpp"

#include <array>
#include <string>

namespace posthorn::postgres {

const std::string_view table_definitions = R"sql(
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
)sql";

migration_set store_tables() noexcept {
    static const std::string first =
        std::string(table_definitions) + std::string(intake_definitions) +
        std::string(trigger_definitions) + std::string(view_definitions);
    static const std::array<migration, 5> steps{{{1, first},
                                                 {2, time_definitions},
                                                 {3, passing_definitions},
                                                 {4, odd_definitions},
                                                 {5, count_definitions}}};
    return {"store", steps};
}

}  // namespace posthorn::postgres
