#include "store/sqlite/tables/dead_letters_sql.hpp"

#include <utility>

#include "store/rows/or_null.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/rows/stored_time.hpp"
#include "store/sqlite/schema/sql_defaults.hpp"
#include "store/sqlite/tables/dead_columns.hpp"
#include "store/sqlite/tables/outbox_columns.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto keys_by_seq =
    joined("SELECT ", dead_key_columns, " FROM outbox_messages WHERE seq = ?");
constexpr auto renew = joined("UPDATE outbox_messages SET message_id = ", new_id, R"sql(,
    created_at = ?2, expires_at = ?2 + max(expires_at - created_at, 1000), deliver_at = NULL
    WHERE seq = ?1)sql");

template <class Key>
result<bool> visit_one(statement& query, const Key& key,
                       const std::function<void(const sql_row&)>& visit) {
    POSTHORN_LET(found, query.run(key));
    if (found.empty()) return false;
    visit(found.front());
    return true;
}

}  // namespace

dead_letters_sql::dead_letters_sql(connection& database, const message_limits& limits,
                                   const neighbours& others)
    : dead_letter_rules(limits),
      changes_(others.changes),
      closed_(others.closed),
      outbox_(others.outbox),
      order_(database),
      by_id_(database, dead_row_by_id),
      by_seq_(database, dead_row_by_seq),
      keys_(database, keys_by_seq),
      requeue_(database, R"sql(
          UPDATE outbox_messages SET status = 'Pending', retry_count = 0, resolution = NULL,
              next_retry_at = coalesce(deliver_at, 0)
          WHERE seq = ?)sql"),
      renew_(database, renew),
      // Before the row has its new id, so that the old one is kept.
      note_(database, R"sql(
          INSERT INTO outbox_attempts (seq, attempt, at, error)
          SELECT ?1, coalesce((SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1,
              ?2, 'requeued under a new id; until then it was ' || message_id
          FROM outbox_messages WHERE seq = ?1)sql"),
      resolve_(database, R"sql(
          UPDATE outbox_messages SET status = 'Resolved', resolution = ?2 WHERE seq = ?1)sql"),
      remove_(database, "DELETE FROM outbox_messages WHERE seq = ?"),
      expire_(database, R"sql(
          UPDATE outbox_messages SET status = 'Expired', last_error =
              'not delivered before it expired' || coalesce('; last: ' || last_error, '')
          WHERE seq = ?1 AND status = 'Dead' AND expires_at <= ?2)sql"),
      ended_(database, "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)"),
      edit_(database, R"sql(
          UPDATE outbox_messages SET destination = ?2, endpoint = ?3, payload = ?4,
              content_type = ?5, headers = ?6, max_retries = ?7
          WHERE seq = ?1)sql"),
      whole_(database, outbox_row_by_seq),
      reseal_(database, "UPDATE outbox_messages SET checksum = ?2 WHERE seq = ?1") {}

result<bool> dead_letters_sql::visit_by_id(const uuid& id, const row_visitor& visit) {
    return visit_one(by_id_, id, visit);
}

result<bool> dead_letters_sql::visit_by_seq(std::int64_t seq, const row_visitor& visit) {
    return visit_one(by_seq_, seq, visit);
}

result<bool> dead_letters_sql::visit_keys(std::int64_t seq, const row_visitor& visit) {
    return visit_one(keys_, seq, visit);
}

result<bool> dead_letters_sql::visit_whole(std::int64_t seq, const row_visitor& visit) {
    return visit_one(whole_, seq, visit);
}

result<> dead_letters_sql::make_pending(std::int64_t seq) {
    POSTHORN_TRY(requeue_.run(seq));
    return {};
}

result<> dead_letters_sql::place(std::int64_t seq) { return order_.place(seq); }

result<> dead_letters_sql::give_new_id(std::int64_t seq, wall_time now) {
    POSTHORN_TRY(note_.run(seq, to_ms(now)));
    POSTHORN_TRY(renew_.run(seq, to_ms(now)));
    return {};
}

result<> dead_letters_sql::make_resolved(std::int64_t seq, std::string_view resolution) {
    POSTHORN_TRY(resolve_.run(seq, or_null(resolution)));
    return {};
}

result<> dead_letters_sql::erase(std::int64_t seq) {
    POSTHORN_TRY(remove_.run(seq));
    return {};
}

result<bool> dead_letters_sql::make_expired(std::int64_t seq, wall_time now) {
    POSTHORN_LET(expired, expire_.run(seq, to_ms(now)));
    if (expired.changed() == 0) return false;
    POSTHORN_TRY(ended_.run(seq));
    return true;
}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    POSTHORN_TRY(edit_.run(seq, body.destination, body.endpoint, body.payload, body.content_type,
                           or_null(body.headers), body.max_retries));
    return {};
}

result<> dead_letters_sql::set_checksum(std::int64_t seq, std::int64_t sum) {
    POSTHORN_TRY(reseal_.run(seq, sum));
    return {};
}

result<> dead_letters_sql::record_closed(std::int64_t seq, outbox_status status, wall_time at) {
    return closed_.record(seq, status, at);
}

result<> dead_letters_sql::release_next(const order_scope& of) { return outbox_.let_go(of); }

result<> dead_letters_sql::log(std::string_view kind, std::vector<std::int64_t> seqs,
                               wall_time at) {
    return changes_.append(kind, std::move(seqs), at);
}

}  // namespace posthorn::sqlite
