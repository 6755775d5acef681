#include "store/postgres/tables/dead_letters_reading.hpp"

#include "store/postgres/tables/dead_columns.hpp"

namespace posthorn::postgres {
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

dead_letters_reading::dead_letters_reading(connection& database)
    : dead_letter_pages(database, {.down = {closed_of_status_down, closed_of_cause_down},
                                   .up = {closed_of_status_up, closed_of_cause_up},
                                   .highest = R"sql(
          SELECT seq FROM {s}.outbox_closed WHERE status = $1 ORDER BY seq DESC LIMIT 1)sql",
                                   .by_seq = dead_row_by_seq,
                                   .by_id = dead_row_by_id,
                                   .groups = R"sql(
          SELECT cause_id, destination, endpoint, cause, dead, first_at, last_at,
              (SELECT message_id FROM {s}.outbox_messages WHERE seq = (SELECT max(c.seq)
                  FROM {s}.outbox_closed AS c WHERE c.cause_id = k.cause_id))
          FROM {s}.outbox_causes AS k
          WHERE dead > 0 AND ($1::text = '' OR destination = $1::text)
          ORDER BY dead DESC, cause_id LIMIT $2)sql",
                                   .ungrouped = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_closed
              WHERE status = 'Dead' AND cause_id IS NULL LIMIT $1) AS part)sql"}) {}

}  // namespace posthorn::postgres
