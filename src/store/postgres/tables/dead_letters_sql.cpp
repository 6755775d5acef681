#include "store/postgres/tables/dead_letters_sql.hpp"

#include <utility>

#include "store/postgres/tables/dead_columns.hpp"
#include "store/rows/dead_rows.hpp"
#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

// Rows that are read to be changed are locked: another node may change them too.
constexpr auto row_by_id_to_change = joined("SELECT ", dead_row_columns, R"sql(
    FROM {s}.outbox_messages AS m WHERE message_id = $1 FOR UPDATE)sql");
constexpr auto row_by_seq =
    joined("SELECT ", dead_row_columns, " FROM {s}.outbox_messages AS m WHERE seq = $1");
constexpr auto keys_by_seq_to_change = joined("SELECT ", dead_key_columns, R"sql(
    FROM {s}.outbox_messages AS m WHERE m.seq = $1 FOR UPDATE)sql");
constexpr auto whole_by_seq =
    joined("SELECT ", outbox_columns, " FROM {s}.outbox_messages WHERE seq = $1");

}  // namespace

dead_letters_sql::dead_letters_sql(connection& database, const message_limits& limits,
                                   const neighbours& others)
    : dead_letter_rows(
          database, limits, others,
          {.by_id = row_by_id_to_change,
           .by_seq = row_by_seq,
           .keys = keys_by_seq_to_change,
           .whole = whole_by_seq,
           .requeue = R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Pending', retry_count = 0, resolution = NULL,
              next_retry_at = coalesce(deliver_at, 0)
          WHERE seq = $1)sql",
           .note = R"sql(
          INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
          VALUES ($1::bigint, coalesce((SELECT max(attempt) FROM {s}.outbox_attempts WHERE seq =
              $1::bigint), 0) + 1, $2::bigint, $3::text))sql",
           .old_id = R"sql(
          INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
          SELECT $1::bigint, coalesce((SELECT max(attempt) FROM {s}.outbox_attempts WHERE seq =
              $1::bigint), 0) + 1, $2::bigint,
              'requeued under a new id; until then it was ' || message_id
          FROM {s}.outbox_messages
          WHERE seq = $1::bigint)sql",
           .renew = R"sql(
          UPDATE {s}.outbox_messages
          SET message_id = {s}.new_id(), created_at = $2,
              expires_at = $2::bigint + greatest(
                  CASE $3::bigint WHEN 0 THEN expires_at - created_at ELSE $3 END, 1000),
              deliver_at = NULL
          WHERE seq = $1)sql",
           .resolve = R"sql(
          UPDATE {s}.outbox_messages SET status = 'Resolved', resolution = $2
          WHERE seq = $1)sql",
           .reopen = R"sql(
          UPDATE {s}.outbox_messages SET status = 'Dead', resolution = NULL WHERE seq = $1)sql",
           .remove = "DELETE FROM {s}.outbox_messages WHERE seq = $1",
           .expire = R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Expired', last_error = 'not delivered before it expired' ||
              coalesce('; last: ' || last_error, '')
          WHERE seq = $1 AND status = 'Dead' AND expires_at <= $2)sql",
           .ended = "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING",
           .reseal = "UPDATE {s}.outbox_messages SET checksum = $2 WHERE seq = $1"}),
      edit_(database, R"sql(
          UPDATE {s}.outbox_messages
          SET destination = $2, endpoint = $3, payload = $4, payload_bytes = $5,
              content_type = $6, headers = $7, max_retries = $8
          WHERE seq = $1)sql") {}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    auto with = values::of(seq, body.destination, body.endpoint);
    add_payload(with, body.payload);
    with.add(body.content_type);
    with.add(or_null(body.headers));
    with.add(std::int64_t{body.max_retries});
    return require_change(edit_.run_with(std::move(with)));
}

}  // namespace posthorn::postgres
