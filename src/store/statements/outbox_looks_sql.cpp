#include "store/statements/outbox_looks_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_parts.hpp"

namespace posthorn {
namespace sqlite {
namespace {

constexpr auto outbox_row_by_id =
    joined("SELECT ", outbox_columns, " FROM outbox_messages WHERE message_id = ?");
constexpr auto rows_to_tell_of =
    joined("SELECT ",
           outbox_cut_columns_with(unless_longer("payload", "?3"), unless_longer("headers", "?3"),
                                   "checksum"),
           R"sql(, status, substr(last_error, 1, 4096),
        EXISTS (SELECT 1 FROM outbox_attempts WHERE outbox_attempts.seq = outbox_messages.seq)
    FROM outbox_ended CROSS JOIN outbox_messages USING (seq)
    WHERE outbox_ended.seq > ?1 ORDER BY outbox_ended.seq LIMIT ?2)sql");

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

constexpr auto row_by_id =
    joined("SELECT ", outbox_columns, " FROM {s}.outbox_messages WHERE message_id = $1");
// Up to the one that goes past `ended_bytes_max`: a page comes here as a whole.
constexpr auto rows_to_tell_of =
    joined("SELECT ",
           outbox_cut_columns_with(payload_unless_longer("$3::bigint"),
                                   headers_unless_longer("$3::bigint"), "checksum"),
           R"sql(, status, substr(last_error, 1, 4096),
        (EXISTS (SELECT 1 FROM {s}.outbox_attempts AS tried WHERE tried.seq = sized.seq))::int::bigint
    FROM (SELECT m.*, sum(least()sql",
           row_octets, R"sql(, $3::bigint)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING
            AND 1 PRECEDING) AS octets_before
        FROM (SELECT seq FROM {s}.outbox_ended WHERE seq > $1 ORDER BY seq LIMIT $2) AS ended
            JOIN {s}.outbox_messages AS m USING (seq)) AS sized
    WHERE coalesce(octets_before, 0) < 8388608
    ORDER BY seq)sql");

}  // namespace
}  // namespace postgres

constinit const outbox_looks_sql outbox_looks_texts{
    .policy = both<"SELECT value FROM {s}.posthorn_meta WHERE name = 'order_policy'">,
    .by_id = {.sqlite = sqlite::outbox_row_by_id, .postgres = postgres::row_by_id},
    .status_by_id = both<"SELECT status FROM {s}.outbox_messages WHERE message_id = ?1">,
    .counts = both<"SELECT status, count(*) FROM {s}.outbox_messages GROUP BY status">,
    .paused = both<R"sql(
          SELECT destination, paused_at, substr(reason, 1, 4096) FROM {s}.outbox_paused
          ORDER BY destination LIMIT 10000)sql">,
    .ended = {.sqlite = sqlite::rows_to_tell_of, .postgres = postgres::rows_to_tell_of}};

}  // namespace posthorn
