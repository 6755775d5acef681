#include "store/sqlite/tables/beside_tables.hpp"

#include <array>

#include "store/sqlite/schema/status_sql.hpp"

namespace posthorn::sqlite {
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

}  // namespace

std::span<const beside_sql> tables_beside(beside_fault which) {
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

}  // namespace posthorn::sqlite
