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

result<bool> visit_first(const result<rows>& found,
                         const std::function<void(const sql_row&)>& visit) {
    if (!found) return std::unexpected(found.error());
    if (!found->empty()) visit(found->front());
    return !found->empty();
}

}  // namespace

dead_letters_sql::dead_letters_sql(connection& database, const message_limits& limits,
                                   const neighbours& others)
    : dead_letter_rules(limits),
      with_(others),
      by_id_(database, row_by_id_to_change),
      by_seq_(database, row_by_seq),
      keys_(database, keys_by_seq_to_change),
      requeue_(database, R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Pending', retry_count = 0, resolution = NULL,
              next_retry_at = coalesce(deliver_at, 0)
          WHERE seq = $1)sql"),
      renew_(database, R"sql(
          UPDATE {s}.outbox_messages
          SET message_id = {s}.new_id(), created_at = $2,
              expires_at = $2::bigint + greatest(expires_at - created_at, 1000),
              deliver_at = NULL
          WHERE seq = $1)sql"),
      // Before the row has its new id, so that the old one is kept.
      note_(database, R"sql(
          INSERT INTO {s}.outbox_attempts (seq, attempt, at, error)
          SELECT $1::bigint, coalesce((SELECT max(attempt) FROM {s}.outbox_attempts WHERE seq =
              $1::bigint), 0) + 1, $2::bigint,
              'requeued under a new id; until then it was ' || message_id
          FROM {s}.outbox_messages
          WHERE seq = $1::bigint)sql"),
      resolve_(database, R"sql(
          UPDATE {s}.outbox_messages SET status = 'Resolved', resolution = $2
          WHERE seq = $1)sql"),
      remove_(database, "DELETE FROM {s}.outbox_messages WHERE seq = $1"),
      expire_(database, R"sql(
          UPDATE {s}.outbox_messages
          SET status = 'Expired', last_error = 'not delivered before it expired' ||
              coalesce('; last: ' || last_error, '')
          WHERE seq = $1 AND status = 'Dead' AND expires_at <= $2)sql"),
      ended_(database, "INSERT INTO {s}.outbox_ended (seq) VALUES ($1) ON CONFLICT DO NOTHING"),
      edit_(database, R"sql(
          UPDATE {s}.outbox_messages
          SET destination = $2, endpoint = $3, payload = $4, payload_bytes = $5,
              content_type = $6, headers = $7, max_retries = $8
          WHERE seq = $1)sql"),
      whole_(database, whole_by_seq),
      reseal_(database, "UPDATE {s}.outbox_messages SET checksum = $2 WHERE seq = $1") {}

result<bool> dead_letters_sql::visit_by_id(const uuid& id, const row_visitor& visit) {
    return visit_first(by_id_.run(id), visit);
}

result<bool> dead_letters_sql::visit_by_seq(std::int64_t seq, const row_visitor& visit) {
    return visit_first(by_seq_.run(seq), visit);
}

result<bool> dead_letters_sql::visit_keys(std::int64_t seq, const row_visitor& visit) {
    return visit_first(keys_.run(seq), visit);
}

result<bool> dead_letters_sql::visit_whole(std::int64_t seq, const row_visitor& visit) {
    return visit_first(whole_.run(seq), visit);
}

result<> dead_letters_sql::make_pending(std::int64_t seq) {
    POSTHORN_TRY(requeue_.run(seq));
    return {};
}

result<> dead_letters_sql::place(std::int64_t seq) { return with_.keys.place(seq); }

result<> dead_letters_sql::give_new_id(std::int64_t seq, wall_time now) {
    note_.defer(seq, to_ms(now));
    POSTHORN_TRY(renew_.run(seq, to_ms(now)));
    return {};
}

result<> dead_letters_sql::make_resolved(std::int64_t seq, std::string_view resolution) {
    POSTHORN_TRY(resolve_.run(seq, or_null(storable(resolution))));
    return {};
}

result<> dead_letters_sql::erase(std::int64_t seq) {
    POSTHORN_TRY(remove_.run(seq));
    return {};
}

result<bool> dead_letters_sql::make_expired(std::int64_t seq, wall_time now) {
    POSTHORN_LET(done, expire_.run(seq, to_ms(now)));
    if (done.changed() == 0) return false;
    ended_.defer(seq);
    return true;
}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    auto with = values::of(seq, body.destination, body.endpoint);
    add_payload(with, body.payload);
    with.add(body.content_type);
    with.add(or_null(body.headers));
    with.add(std::int64_t{body.max_retries});
    POSTHORN_TRY(edit_.run_with(std::move(with)));
    return {};
}

result<> dead_letters_sql::set_checksum(std::int64_t seq, std::int64_t sum) {
    POSTHORN_TRY(reseal_.run(seq, sum));
    return {};
}

result<> dead_letters_sql::record_closed(std::int64_t seq, outbox_status status, wall_time at) {
    return with_.closed.record(seq, status, at);
}

result<> dead_letters_sql::release_next(const order_scope& of) { return with_.keys.let_go(of); }

result<> dead_letters_sql::log(std::string_view kind, std::vector<std::int64_t> seqs,
                               wall_time at) {
    with_.changes.append(kind, std::move(seqs), at);
    return {};
}

}  // namespace posthorn::postgres
