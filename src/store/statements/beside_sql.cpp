#include "store/statements/beside_sql.hpp"

#include <array>

#include "base/text/joined.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn {
namespace sqlite {
namespace {

// By the index of closed messages, since the status of a message stands behind its payload.
template <class Status>
consteval auto without_account(const Status& status) {
    return joined(R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_closed
        WHERE outbox_closed.seq = outbox_messages.seq) AS wrong
    FROM outbox_messages INDEXED BY idx_outbox_closed
    WHERE status = ')sql",
                  status, R"sql(' AND )sql", is_closed("status"), R"sql( AND seq > ?1
    ORDER BY seq LIMIT ?2)sql");
}
constexpr auto dead_without_account = without_account("Dead");
constexpr auto expired_without_account = without_account("Expired");
constexpr auto resolved_without_account = without_account("Resolved");

constexpr std::string_view add_account = R"sql(
    INSERT OR IGNORE INTO outbox_closed (seq, status, at)
    SELECT seq, status, ?2 FROM outbox_messages WHERE seq = ?1
        AND status <> 'Pending' AND status <> 'Sent')sql";

constexpr auto odd_accounts = joined(R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages INDEXED BY idx_outbox_closed
            WHERE outbox_messages.status = outbox_closed.status
              AND outbox_messages.seq = outbox_closed.seq AND )sql",
                                     is_closed("outbox_messages.status"), R"sql()
        OR (cause_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outbox_causes
            WHERE outbox_causes.cause_id = outbox_closed.cause_id)) AS wrong
    FROM outbox_closed WHERE seq > ?1 ORDER BY seq LIMIT ?2)sql");

// Times that are more than a day ahead, of a program or of a clock that was wrong. Where most rows
// have one, it is this clock that is wrong, and they stay.
constexpr std::string_view accounts_ahead = R"sql(
    WITH page AS (SELECT seq, at > ?3 + 86400000 AS ahead FROM outbox_closed
        WHERE seq > ?1 ORDER BY seq LIMIT ?2)
    SELECT seq, ahead AND (SELECT sum(ahead) * 2 < count(*) FROM page) AS wrong FROM page)sql";
constexpr std::string_view sent_ahead = R"sql(
    SELECT seq, (SELECT count(*) FROM (SELECT 1 FROM outbox_messages
            WHERE status = 'Sent' AND sent_at > ?3 + 86400000 LIMIT 1000))
        < (SELECT count(*) FROM (SELECT 1 FROM outbox_messages
            WHERE status = 'Sent' AND sent_at <= ?3 + 86400000 LIMIT 1000)) AS wrong
    FROM outbox_messages WHERE status = 'Sent' AND sent_at > ?3 + 86400000 AND seq > ?1
    ORDER BY seq LIMIT ?2)sql";

constexpr std::string_view odd_attempts = R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages
        WHERE outbox_messages.seq = outbox_attempts.seq) AS wrong
    FROM outbox_attempts WHERE seq > ?1 GROUP BY seq ORDER BY seq LIMIT ?2)sql";
constexpr std::string_view odd_ends = R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages
        WHERE outbox_messages.seq = outbox_ended.seq) AS wrong
    FROM outbox_ended WHERE seq > ?1 ORDER BY seq LIMIT ?2)sql";
constexpr std::string_view odd_causes = R"sql(
    SELECT cause_id AS seq, min(dead, 10001) <> (SELECT count(*) FROM (SELECT 1 FROM outbox_closed
        WHERE outbox_closed.cause_id = outbox_causes.cause_id LIMIT 10001)) AS wrong
    FROM outbox_causes WHERE cause_id > ?1 ORDER BY cause_id LIMIT ?2)sql";
constexpr std::string_view remove_account = R"sql(
    DELETE FROM outbox_closed WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM outbox_messages
        WHERE seq = ?1 AND status = outbox_closed.status
          AND status <> 'Pending' AND status <> 'Sent'))sql";
constexpr std::string_view forget_cause = R"sql(
    UPDATE outbox_closed SET cause_id = NULL
    WHERE seq = ?1 AND cause_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outbox_causes
        WHERE outbox_causes.cause_id = outbox_closed.cause_id))sql";
constexpr std::string_view account_now = "UPDATE outbox_closed SET at = ?2 WHERE seq = ?1";
constexpr std::string_view sent_now = "UPDATE outbox_messages SET sent_at = ?2 WHERE seq = ?1";
constexpr std::string_view remove_attempts = "DELETE FROM outbox_attempts WHERE seq = ?";
constexpr std::string_view remove_end = "DELETE FROM outbox_ended WHERE seq = ?";
constexpr std::string_view recount_cause = R"sql(
    UPDATE outbox_causes SET dead = (SELECT count(*) FROM outbox_closed
        WHERE outbox_closed.cause_id = ?1)
    WHERE cause_id = ?1)sql";

std::span<const beside_sql> tables_of(beside_fault which) {
    static const std::array lost{
        beside_sql{.find = {dead_without_account}, .mend = {{add_account, true}}},
        beside_sql{.find = {expired_without_account}, .mend = {{add_account, true}}},
        beside_sql{.find = {resolved_without_account}, .mend = {{add_account, true}}}};
    static const std::array odd{
        beside_sql{.find = {odd_accounts}, .mend = {{remove_account}, {forget_cause}}},
        beside_sql{.find = {accounts_ahead, true}, .mend = {{account_now, true}}},
        beside_sql{.find = {sent_ahead, true}, .mend = {{sent_now, true}}},
        beside_sql{.find = {odd_attempts}, .mend = {{remove_attempts}}},
        beside_sql{.find = {odd_ends}, .mend = {{remove_end}}},
        beside_sql{.find = {odd_causes}, .mend = {{recount_cause}}}};
    return which == beside_fault::lost ? std::span<const beside_sql>(lost) : odd;
}

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

// What take_in has still to come to, or cannot take in, is not lost. Of messages that were sent nothing is looked up:
// they are by far the most, and what is left beside them is found from there. Times that are more
// than a day ahead are of a program, or of a clock that was wrong; where most rows have one, it is
// this clock that is wrong, and they stay.
constexpr std::string_view lost_messages = R"sql(
    WITH page AS MATERIALIZED (SELECT seq, status, tx,
            status = 'Sent' AND sent_at > $3::bigint + 86400000 AS ahead
        FROM {s}.outbox_messages WHERE seq > $1 ORDER BY seq LIMIT $2),
    intake AS MATERIALIZED (SELECT {s}.known(i) AS seen, seen_but_for
        FROM {s}.outbox_intake AS i)
    SELECT seq, CASE
        WHEN status = 'Sent' THEN coalesce(ahead, false) AND
            (SELECT count(*) FILTER (WHERE ahead) * 2 < count(*) FROM page)
        WHEN NOT coalesce((SELECT pg_visible_in_snapshot(page.tx, seen)
            AND page.tx <> ALL (seen_but_for) FROM intake), false) THEN false
        WHEN (SELECT o.seq FROM {s}.outbox_odd AS o WHERE o.seq = page.seq) IS NOT NULL THEN false
        WHEN status = 'Pending' THEN
            (SELECT d.seq FROM {s}.outbox_due AS d WHERE d.seq = page.seq) IS NULL
        ELSE (SELECT c.seq FROM {s}.outbox_closed AS c WHERE c.seq = page.seq) IS NULL
        END AS wrong
    FROM page ORDER BY seq)sql";

// Locked, so that nothing changes them before their rows are there to be changed too.
constexpr std::string_view add_due = R"sql(
    WITH held AS MATERIALIZED (SELECT * FROM {s}.outbox_messages
        WHERE seq = ANY ($1::bigint[]) AND status = 'Pending'
        FOR SHARE SKIP LOCKED)
    INSERT INTO {s}.outbox_due (seq, destination, tenant, priority, next_retry_at, expires_at,
        order_key)
    SELECT seq, destination, coalesce(tenant, ''), priority, next_retry_at, expires_at,
        nullif(order_key, '') FROM held
    ON CONFLICT DO NOTHING)sql";
constexpr std::string_view add_account = R"sql(
    WITH held AS MATERIALIZED (SELECT * FROM {s}.outbox_messages
        WHERE seq = ANY ($1::bigint[]) AND status NOT IN ('Pending', 'Sent')
        FOR SHARE SKIP LOCKED)
    INSERT INTO {s}.outbox_closed (seq, status, at, destination, tenant, order_key)
    SELECT seq, status, $2::bigint, destination, coalesce(tenant, ''), nullif(order_key, '')
    FROM held ON CONFLICT DO NOTHING)sql";
constexpr std::string_view sent_now = R"sql(
    UPDATE {s}.outbox_messages SET sent_at = $2::bigint
    WHERE seq = ANY ($1::bigint[]) AND status = 'Sent'
        AND sent_at > $2::bigint + 86400000)sql";

// As the row of a message is made.
constexpr auto due_as_said = joined(
    "(d.destination, d.tenant, d.priority, d.next_retry_at, d.expires_at, d.order_key) IS NOT"
    " DISTINCT FROM (m.destination, coalesce(m.tenant, ''), m.priority,"
    " least(m.next_retry_at, m.expires_at), m.expires_at, nullif(m.order_key, ''))");
constexpr auto odd_due = joined(R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m
        WHERE m.seq = d.seq AND m.status = 'Pending' AND )sql",
                                due_as_said, R"sql() AS wrong
    FROM {s}.outbox_due AS d WHERE seq > $1 ORDER BY seq LIMIT $2)sql");
constexpr std::string_view hold_due =
    "SELECT 1 FROM {s}.outbox_due WHERE seq = ANY ($1::bigint[]) ORDER BY seq FOR UPDATE";
constexpr std::string_view remove_due = R"sql(
    DELETE FROM {s}.outbox_due AS d WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS
        (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = d.seq AND m.status = 'Pending'))sql";
constexpr auto correct_due = joined(R"sql(
    WITH m AS MATERIALIZED (SELECT * FROM {s}.outbox_messages
        WHERE seq = ANY ($1::bigint[]) AND status = 'Pending' FOR SHARE SKIP LOCKED)
    UPDATE {s}.outbox_due AS d SET destination = m.destination, tenant = coalesce(m.tenant, ''),
        priority = m.priority, next_retry_at = m.next_retry_at, expires_at = m.expires_at,
        order_key = nullif(m.order_key, ''), claim_epoch = NULL
    FROM m WHERE d.seq = m.seq AND NOT )sql",
                                    due_as_said);

constexpr auto account_as_said = joined(
    "(c.destination, c.tenant, c.order_key) IS NOT DISTINCT FROM"
    " (m.destination, coalesce(m.tenant, ''), nullif(m.order_key, ''))");
constexpr auto odd_accounts = joined(R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m
            WHERE m.seq = c.seq AND m.status = c.status AND m.status NOT IN ('Pending', 'Sent')
              AND )sql",
                                     account_as_said, R"sql()
        OR (cause_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {s}.outbox_causes AS o
            WHERE o.cause_id = c.cause_id)) AS wrong
    FROM {s}.outbox_closed AS c WHERE seq > $1 ORDER BY seq LIMIT $2)sql");
constexpr std::string_view hold_accounts =
    "SELECT 1 FROM {s}.outbox_closed WHERE seq = ANY ($1::bigint[]) ORDER BY seq FOR UPDATE";
constexpr std::string_view remove_accounts = R"sql(
    DELETE FROM {s}.outbox_closed AS c WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS
        (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = c.seq AND m.status = c.status
            AND m.status NOT IN ('Pending', 'Sent')))sql";
constexpr auto correct_accounts = joined(R"sql(
    WITH m AS MATERIALIZED (SELECT * FROM {s}.outbox_messages
        WHERE seq = ANY ($1::bigint[]) FOR SHARE SKIP LOCKED)
    UPDATE {s}.outbox_closed AS c SET destination = m.destination,
        tenant = coalesce(m.tenant, ''), order_key = nullif(m.order_key, '')
    FROM m WHERE c.seq = m.seq AND c.status = m.status AND NOT )sql",
                                         account_as_said);
constexpr std::string_view forget_causes = R"sql(
    UPDATE {s}.outbox_closed AS c SET cause_id = NULL
    WHERE seq = ANY ($1::bigint[]) AND cause_id IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM {s}.outbox_causes AS o WHERE o.cause_id = c.cause_id))sql";
constexpr std::string_view accounts_ahead = R"sql(
    WITH page AS MATERIALIZED (SELECT seq, at > $3::bigint + 86400000 AS ahead
        FROM {s}.outbox_closed WHERE seq > $1 ORDER BY seq LIMIT $2)
    SELECT seq, ahead AND (SELECT count(*) FILTER (WHERE ahead) * 2 < count(*) FROM page) AS wrong
    FROM page ORDER BY seq)sql";

// What take_in cannot go on from. Without it, it begins anew.
constexpr auto is_odd_intake =
    joined("until IS NOT NULL AND (until_but_for IS NULL OR last_tx IS NULL OR last_seq IS NULL)");
constexpr auto odd_intake = joined("SELECT 1::bigint AS seq, ", is_odd_intake, R"sql( AS wrong
    FROM {s}.outbox_intake WHERE $1 < 1::bigint LIMIT $2)sql");
constexpr auto forget_intake =
    joined("DELETE FROM {s}.outbox_intake WHERE 1 = ANY ($1::bigint[]) AND ", is_odd_intake);

constexpr std::string_view odd_attempts = R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = a.seq) AS wrong
    FROM (SELECT DISTINCT seq FROM {s}.outbox_attempts WHERE seq > $1 ORDER BY seq LIMIT $2) AS a
    ORDER BY seq)sql";
constexpr std::string_view odd_ends = R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = e.seq) AS wrong
    FROM {s}.outbox_ended AS e WHERE seq > $1 ORDER BY seq LIMIT $2)sql";
constexpr std::string_view odd_causes = R"sql(
    SELECT cause_id AS seq, least(dead, 10001) <> (SELECT count(*) FROM (SELECT 1
        FROM {s}.outbox_closed AS c WHERE c.cause_id = o.cause_id LIMIT 10001) AS few) AS wrong
    FROM {s}.outbox_causes AS o WHERE cause_id > $1 ORDER BY cause_id LIMIT $2)sql";
constexpr std::string_view accounts_now = R"sql(
    UPDATE {s}.outbox_closed SET at = $2::bigint
    WHERE seq = ANY ($1::bigint[]) AND at > $2::bigint + 86400000)sql";
constexpr std::string_view remove_attempts =
    "DELETE FROM {s}.outbox_attempts WHERE seq = ANY ($1::bigint[])";
constexpr std::string_view remove_ends =
    "DELETE FROM {s}.outbox_ended WHERE seq = ANY ($1::bigint[])";
constexpr std::string_view hold_causes = R"sql(
    SELECT 1 FROM {s}.outbox_causes WHERE cause_id = ANY ($1::bigint[])
    ORDER BY cause_id FOR UPDATE)sql";
constexpr std::string_view recount_causes = R"sql(
    UPDATE {s}.outbox_causes AS o SET dead = (SELECT count(*) FROM {s}.outbox_closed AS c
        WHERE c.cause_id = o.cause_id)
    WHERE cause_id = ANY ($1::bigint[]))sql";

std::span<const beside_sql> tables_of(beside_fault which) {
    static const std::array lost{beside_sql{
        .find = {lost_messages, true}, .mend = {{add_due}, {add_account, true}, {sent_now, true}}}};
    static const std::array odd{
        beside_sql{.find = {odd_due}, .mend = {{hold_due}, {remove_due}, {correct_due}}},
        beside_sql{
            .find = {odd_accounts},
            .mend = {{hold_accounts}, {remove_accounts}, {correct_accounts}, {forget_causes}}},
        beside_sql{.find = {odd_intake}, .mend = {{forget_intake}}},
        beside_sql{.find = {accounts_ahead, true}, .mend = {{accounts_now, true}}},
        beside_sql{.find = {odd_attempts}, .mend = {{remove_attempts}}},
        beside_sql{.find = {odd_ends}, .mend = {{remove_ends}}},
        beside_sql{.find = {odd_causes}, .mend = {{hold_causes}, {recount_causes}}}};
    return which == beside_fault::lost ? std::span<const beside_sql>(lost) : odd;
}

}  // namespace
}  // namespace postgres

beside_tables tables_beside(beside_fault which) {
    return {.sqlite = sqlite::tables_of(which), .postgres = postgres::tables_of(which)};
}

}  // namespace posthorn
