#include "store/statements/dead_letter_pages_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_parts.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn {
namespace sqlite {
namespace {

constexpr auto closed_of_status = joined(
    "SELECT ", dead_key_columns, " FROM outbox_messages WHERE outbox_messages.status = ?2 AND ",
    is_closed("outbox_messages.status"), " AND outbox_messages.seq ");
constexpr auto closed_of_status_down =
    joined(closed_of_status, "< ?1 ORDER BY outbox_messages.seq DESC LIMIT ?3");
constexpr auto closed_of_status_up =
    joined(closed_of_status, "> ?1 ORDER BY outbox_messages.seq LIMIT ?3");
constexpr auto closed_of_cause = joined("SELECT ", dead_key_columns, R"sql(
    FROM outbox_closed AS found CROSS JOIN outbox_messages ON outbox_messages.seq = found.seq
    WHERE found.cause_id = ?2 AND found.seq )sql");
constexpr auto closed_of_cause_down =
    joined(closed_of_cause, "< ?1 ORDER BY found.seq DESC LIMIT ?3");
constexpr auto closed_of_cause_up = joined(closed_of_cause, "> ?1 ORDER BY found.seq LIMIT ?3");
constexpr auto highest_closed = joined("SELECT seq FROM outbox_messages WHERE status = ? AND ",
                                       is_closed("status"), " ORDER BY seq DESC LIMIT 1");

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

template <class Which, class Way>
consteval auto closed_walk(const Which& which, const Way& way) {
    return joined("SELECT ", dead_key_columns, " FROM (SELECT seq FROM {s}.outbox_closed WHERE ",
                  which, " AND seq ", way, R"sql( LIMIT $3) AS found
        JOIN {s}.outbox_messages AS m USING (seq)
    ORDER BY )sql");
}
constexpr auto closed_of_status_down =
    joined(closed_walk("status = $2", "< $1 ORDER BY seq DESC"), "seq DESC");
constexpr auto closed_of_status_up = joined(closed_walk("status = $2", "> $1 ORDER BY seq"), "seq");
constexpr auto closed_of_cause_down =
    joined(closed_walk("cause_id = $2", "< $1 ORDER BY seq DESC"), "seq DESC");
constexpr auto closed_of_cause_up =
    joined(closed_walk("cause_id = $2", "> $1 ORDER BY seq"), "seq");
constexpr auto dead_row_by_seq =
    joined("SELECT ", dead_row_columns, " FROM {s}.outbox_messages AS m WHERE seq = $1");
constexpr auto dead_row_by_id =
    joined("SELECT ", dead_row_columns, " FROM {s}.outbox_messages AS m WHERE message_id = $1");

}  // namespace
}  // namespace postgres

constinit const dead_letter_pages_sql dead_letter_pages_texts{
    .down = {{.sqlite = sqlite::closed_of_status_down, .postgres = postgres::closed_of_status_down},
             {.sqlite = sqlite::closed_of_cause_down, .postgres = postgres::closed_of_cause_down}},
    .up = {{.sqlite = sqlite::closed_of_status_up, .postgres = postgres::closed_of_status_up},
           {.sqlite = sqlite::closed_of_cause_up, .postgres = postgres::closed_of_cause_up}},
    .highest = {.sqlite = sqlite::highest_closed, .postgres = R"sql(
          SELECT seq FROM {s}.outbox_closed WHERE status = $1 ORDER BY seq DESC LIMIT 1)sql"},
    .by_seq = {.sqlite = sqlite::dead_row_by_seq, .postgres = postgres::dead_row_by_seq},
    .by_id = {.sqlite = sqlite::dead_row_by_id, .postgres = postgres::dead_row_by_id},
    .groups = {.sqlite = R"sql(
          SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,
              (SELECT message_id FROM outbox_messages WHERE seq = (SELECT max(seq)
                  FROM outbox_closed WHERE outbox_closed.cause_id = outbox_causes.cause_id))
          FROM outbox_causes WHERE dead > 0 AND (?1 = '' OR destination = ?1)
          ORDER BY dead DESC LIMIT ?2)sql",
               .postgres = R"sql(
          SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,
              (SELECT message_id FROM {s}.outbox_messages WHERE seq = (SELECT max(c.seq)
                  FROM {s}.outbox_closed AS c WHERE c.cause_id = k.cause_id))
          FROM {s}.outbox_causes AS k
          WHERE dead > 0 AND ($1::text = '' OR destination = $1::text)
          ORDER BY dead DESC, cause_id LIMIT $2)sql"},
    .ungrouped = {.sqlite = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM outbox_closed INDEXED BY idx_outbox_closed_new
              WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?))sql",
                  .postgres = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_closed
              WHERE status = 'Dead' AND cause_id IS NULL LIMIT $1) AS part)sql"}};

}  // namespace posthorn
