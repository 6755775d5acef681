#include "store/sqlite/tables/dead_letters_reading.hpp"

#include "store/sqlite/schema/status_sql.hpp"
#include "store/sqlite/tables/dead_columns.hpp"

namespace posthorn::sqlite {
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

dead_letters_reading::dead_letters_reading(connection& database)
    : dead_letter_pages(database, {.down = {closed_of_status_down, closed_of_cause_down},
                                   .up = {closed_of_status_up, closed_of_cause_up},
                                   .highest = highest_closed,
                                   .by_seq = dead_row_by_seq,
                                   .by_id = dead_row_by_id,
                                   .groups = R"sql(
          SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,
              (SELECT message_id FROM outbox_messages WHERE seq = (SELECT max(seq)
                  FROM outbox_closed WHERE outbox_closed.cause_id = outbox_causes.cause_id))
          FROM outbox_causes WHERE dead > 0 AND (?1 = '' OR destination = ?1)
          ORDER BY dead DESC LIMIT ?2)sql",
                                   .ungrouped = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM outbox_closed INDEXED BY idx_outbox_closed_new
              WHERE status = 'Dead' AND cause_id IS NULL LIMIT ?))sql"}) {}

}  // namespace posthorn::sqlite
