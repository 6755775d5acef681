// What dispatch asks of the tables beyond their rows: fairness, order, no repeats, and an account
// of what was given up. Everything here holds for a producer with plain SQL too.
#include "store/sqlite/schema/tables_dispatch.hpp"

#include "store/statements/sqlite_defaults.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn::sqlite {

const std::string_view dispatch_tables = R"sql(
-- Due work by flow: destination, tenant, priority.
DROP INDEX IF EXISTS idx_outbox_status_retry;
CREATE INDEX idx_outbox_status_retry ON outbox_messages
    (destination, coalesce(tenant, ''), priority, next_retry_at) WHERE status = 'Pending';

-- When messages were given up or closed, and why; a row for each that is Dead, Expired or
-- Resolved.
CREATE TABLE IF NOT EXISTS outbox_closed (
    seq INTEGER PRIMARY KEY,
    status TEXT NOT NULL,
    at INTEGER NOT NULL,
    cause_id INTEGER);  -- Of dead ones.
CREATE INDEX IF NOT EXISTS idx_outbox_closed_age ON outbox_closed (status, at);
CREATE INDEX IF NOT EXISTS idx_outbox_closed_cause ON outbox_closed (cause_id, seq)
    WHERE cause_id IS NOT NULL;
-- Dead ones whose cause is still to be found.
CREATE INDEX IF NOT EXISTS idx_outbox_closed_new ON outbox_closed (seq)
    WHERE status = 'Dead' AND cause_id IS NULL;
INSERT OR IGNORE INTO outbox_closed (seq, status, at)
    SELECT seq, status, coalesce(last_attempt_at, created_at) FROM outbox_messages
    WHERE status IN ('Dead', 'Expired', 'Resolved');
-- Errors without what differs from one message to the next, and how many messages have each.
CREATE TABLE IF NOT EXISTS outbox_causes (
    cause_id INTEGER PRIMARY KEY AUTOINCREMENT,  -- People write them down: none comes back.
    destination TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    cause TEXT NOT NULL,
    dead INTEGER NOT NULL DEFAULT 0,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    UNIQUE (destination, endpoint, cause));
CREATE INDEX IF NOT EXISTS idx_outbox_causes_dead ON outbox_causes (dead);
CREATE TRIGGER IF NOT EXISTS outbox_cause_up AFTER INSERT ON outbox_closed
    WHEN NEW.cause_id IS NOT NULL BEGIN UPDATE outbox_causes SET dead = dead + 1,
    last_at = max(last_at, NEW.at) WHERE cause_id = NEW.cause_id; END;
CREATE TRIGGER IF NOT EXISTS outbox_cause_down AFTER DELETE ON outbox_closed
    WHEN OLD.cause_id IS NOT NULL BEGIN
    UPDATE outbox_causes SET dead = dead - 1 WHERE cause_id = OLD.cause_id; END;
CREATE TRIGGER IF NOT EXISTS outbox_cause_moved AFTER UPDATE OF cause_id ON outbox_closed
    WHEN NEW.cause_id IS NOT OLD.cause_id BEGIN
    UPDATE outbox_causes SET dead = dead - 1 WHERE cause_id = OLD.cause_id;
    UPDATE outbox_causes SET dead = dead + 1, last_at = max(last_at, NEW.at)
    WHERE cause_id = NEW.cause_id; END;
-- A repeated dedupe key closes the later row; its producer need not know.
CREATE INDEX IF NOT EXISTS idx_outbox_dedupe ON outbox_messages
    (destination, dedupe_key, seq) WHERE dedupe_key IS NOT NULL;
-- Destinations that a person has paused.
CREATE TABLE IF NOT EXISTS outbox_paused (
    destination TEXT PRIMARY KEY,
    paused_at INTEGER NOT NULL,
    reason TEXT NOT NULL DEFAULT '') WITHOUT ROWID;)sql";

namespace {

/// How a row is made to fit that a program has inserted. A later step adds a column to what is handed
/// on, its value, when else to look, and what to do first.
template <class Column, class Value, class If, class First>
consteval auto arrival_rules(const Column& column, const Value& value, const If& also_if,
                             const First& first) {
    return joined(R"sql(
-- What a producer with plain SQL need not know: ids are stored in one form, so that they are found
-- again; a repeated dedupe key closes the later row; and a message is not due before its time, nor,
-- if it is parked, before it expires. One small trigger, since every one is paid for by every
-- INSERT, with room for all that its statements could need; those stand behind a view, where only
-- the rows pay that need them.
DROP TRIGGER IF EXISTS outbox_id_form;
DROP TRIGGER IF EXISTS outbox_deliver_at;
DROP TRIGGER IF EXISTS outbox_arrival;
DROP VIEW IF EXISTS outbox_arriving;
CREATE VIEW outbox_arriving AS
    SELECT seq, message_id, destination, tenant, order_key, dedupe_key, status)sql",
                  column, R"sql(
    FROM outbox_messages;
CREATE TRIGGER outbox_arrival AFTER INSERT ON outbox_messages
WHEN length(NEW.message_id) = 32 OR NEW.message_id <> lower(NEW.message_id)
    OR NEW.deliver_at > NEW.next_retry_at OR NEW.order_key <> '' OR NEW.dedupe_key <> '')sql",
                  also_if, R"sql( BEGIN
    INSERT INTO outbox_arriving VALUES (NEW.seq, NEW.message_id, NEW.destination, NEW.tenant,
        NEW.order_key, NEW.dedupe_key, NEW.status)sql",
                  value, R"sql();
END;
CREATE TRIGGER outbox_arranged INSTEAD OF INSERT ON outbox_arriving BEGIN)sql",
                  first, R"sql(
    UPDATE outbox_messages SET message_id = lower(CASE length(NEW.message_id) WHEN 32 THEN
        substr(NEW.message_id, 1, 8) || '-' || substr(NEW.message_id, 9, 4) || '-' ||
        substr(NEW.message_id, 13, 4) || '-' || substr(NEW.message_id, 17, 4) || '-' ||
        substr(NEW.message_id, 21) ELSE NEW.message_id END)
    WHERE seq = NEW.seq
        AND (length(NEW.message_id) = 32 OR NEW.message_id <> lower(NEW.message_id));
    UPDATE outbox_messages SET status = 'Resolved', resolution = 'repeats ' ||
        (SELECT first.message_id FROM outbox_messages AS first
         WHERE first.destination = NEW.destination AND first.dedupe_key = NEW.dedupe_key
         ORDER BY first.seq LIMIT 1)
    WHERE seq = NEW.seq AND NEW.dedupe_key <> '' AND NEW.status = 'Pending'
        AND EXISTS (SELECT 1 FROM outbox_messages AS first
            WHERE first.destination = NEW.destination AND first.dedupe_key = NEW.dedupe_key
              AND first.seq < NEW.seq);
    UPDATE outbox_messages SET next_retry_at = max(next_retry_at, coalesce(deliver_at, 0),
        CASE WHEN NEW.order_key <> '' AND NEW.status = 'Pending' AND )sql",
                  is_blocked("NEW"), R"sql( THEN expires_at ELSE 0 END)
    WHERE seq = NEW.seq;
END;)sql");
}

constexpr auto rules_of_dispatch = joined(R"sql(
-- The rows of an order key that are not done with.
DROP INDEX IF EXISTS idx_outbox_order;
CREATE INDEX idx_outbox_order ON outbox_messages
    (destination, order_key, coalesce(tenant, ''), status, seq)
    WHERE order_key IS NOT NULL AND )sql",
                                          is_undone("status"), R"sql(;
-- What waits for a person; small.
DROP INDEX IF EXISTS idx_outbox_closed;
CREATE INDEX idx_outbox_closed ON outbox_messages (status, seq)
    WHERE )sql",
                                          is_closed("status"), R"sql(;

-- Whoever changes the status: a row closed by hand is to be found and purged too.
DROP TRIGGER IF EXISTS outbox_closing;
CREATE TRIGGER outbox_closing AFTER UPDATE OF status ON outbox_messages
WHEN NEW.status <> OLD.status AND ()sql",
                                          is_closed("OLD.status"), " OR ", is_closed("NEW.status"),
                                          R"sql() BEGIN
    DELETE FROM outbox_closed WHERE seq = OLD.seq;
    INSERT OR IGNORE INTO outbox_closed (seq, status, at)
        SELECT NEW.seq, NEW.status, )sql",
                                          now_ms, " WHERE ", is_closed("NEW.status"), R"sql(;
END;
DROP TRIGGER IF EXISTS outbox_gone;
CREATE TRIGGER outbox_gone AFTER DELETE ON outbox_messages
WHEN )sql",
                                          is_closed("OLD.status"), R"sql( BEGIN
    DELETE FROM outbox_closed WHERE seq = OLD.seq;
    DELETE FROM outbox_attempts WHERE seq = OLD.seq;
    DELETE FROM outbox_ended WHERE seq = OLD.seq;
END;
)sql",
                                          arrival_rules("", "", "", ""));

// Of what is indexed, and of what SQLite writes anew whenever the row changes. What is refused here
// no configuration could allow; within that, a row past the configured limits becomes a dead letter.
// Counted in bytes: to length() a text ends at its first NUL.
template <class Row, class Column, class Most>
consteval auto is_longer(const Row& row, const Column& column, const Most& most) {
    return joined("length(CAST(", row, ".", column, " AS BLOB)) > ", most);
}
template <class Row>
consteval auto has_long_name(const Row& row) {
    return joined("(", is_longer(row, "message_id", "4096"), " OR ",
                  is_longer(row, "destination", "4096"), " OR ", is_longer(row, "tenant", "65536"),
                  ")");
}
template <class Row>
consteval auto has_long_key(const Row& row) {
    return joined("(", is_longer(row, "order_key", "65536"), " OR ",
                  is_longer(row, "dedupe_key", "65536"), ")");
}
constexpr auto payload_bytes = joined("length(CAST(NEW.payload AS BLOB))");
constexpr auto payload_bytes_max = joined("67108864");
template <class Bytes>
consteval auto refuse_what_is_too_long(const Bytes& bytes) {
    return joined(R"sql(
    SELECT RAISE(ABORT, 'message_id and destination have at most 4096 bytes, a tenant 65536')
    WHERE )sql",
                  has_long_name("NEW"), R"sql(;
    SELECT RAISE(ABORT, 'order_key and dedupe_key have at most 65536 bytes')
    WHERE )sql",
                  has_long_key("NEW"), R"sql(;
    SELECT RAISE(ABORT, 'a payload has at most 64 MiB; send a reference to the content instead')
    WHERE )sql",
                  bytes, " > ", payload_bytes_max, ";");
}

template <class If>
consteval auto arrival_within_limits(const If& also_if) {
    return arrival_rules(", 0 AS payload_bytes", joined(", ", payload_bytes),
                         joined(" OR ", has_long_name("NEW"), " OR ", payload_bytes, " > ",
                                payload_bytes_max, also_if),
                         refuse_what_is_too_long("NEW.payload_bytes"));
}

constexpr auto limits_of_dispatch = joined(
    arrival_within_limits(""),
    R"sql(
DROP TRIGGER IF EXISTS outbox_altered;
CREATE TRIGGER outbox_altered
AFTER UPDATE OF message_id, destination, tenant, order_key, dedupe_key, payload ON outbox_messages
WHEN )sql",
    has_long_name("NEW"), " OR ", has_long_key("NEW"), " OR ", payload_bytes, " > ",
    payload_bytes_max, " BEGIN", refuse_what_is_too_long(payload_bytes), R"sql(
END;
-- What was written before, and could not even be looked for.
UPDATE outbox_messages SET status = 'Dead',
    last_error = 'invalid_argument: its destination, tenant or order_key is too long'
WHERE status = 'Pending' AND )sql",
    joined("(", has_long_name("outbox_messages"), " OR ", has_long_key("outbox_messages"), ");"),
    // The fourth step was first made with fewer columns, and files of that time have their trigger.
    R"sql(
DROP TRIGGER IF EXISTS outbox_checksum;
CREATE TRIGGER outbox_checksum
AFTER UPDATE OF message_id, message_type, destination, endpoint, payload, content_type, headers,
    correlation_id, tenant, order_key, parent_id, causation_id, created_at, expires_at
ON outbox_messages WHEN NEW.checksum IS NOT NULL BEGIN
    UPDATE outbox_messages SET checksum = NULL WHERE seq = NEW.seq;
END;)sql");

// What is due after it has expired would be looked at only then. Now it expires at its time.
constexpr auto times_of_dispatch =
    joined(arrival_within_limits(" OR NEW.next_retry_at > NEW.expires_at"), R"sql(
CREATE TRIGGER outbox_late AFTER UPDATE OF next_retry_at, expires_at ON outbox_messages
WHEN NEW.next_retry_at > NEW.expires_at AND NEW.status = 'Pending' BEGIN
    UPDATE outbox_messages SET next_retry_at = expires_at WHERE seq = NEW.seq;
END;
UPDATE outbox_messages SET next_retry_at = expires_at
WHERE status = 'Pending' AND next_retry_at > expires_at;)sql");

// As it was, but that deliveries to subscribers pass those that were given up. What waits for one is
// found by the look at order keys.
constexpr auto passing_of_dispatch =
    joined(arrival_within_limits(" OR NEW.next_retry_at > NEW.expires_at"));

}  // namespace

const std::string_view dispatch_rules = rules_of_dispatch;
const std::string_view dispatch_limits = limits_of_dispatch;
const std::string_view dispatch_times = times_of_dispatch;
const std::string_view dispatch_passing = passing_of_dispatch;

}  // namespace posthorn::sqlite
