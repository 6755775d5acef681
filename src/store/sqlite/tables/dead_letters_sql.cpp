#include "store/sqlite/tables/dead_letters_sql.hpp"

#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "store/rows/outbox_rows.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/schema/sql_defaults.hpp"
#include "store/sqlite/tables/dead_columns.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

template <class Key>
result<bool> visit_one(statement& query, const Key& key,
                       const std::function<void(const sql_row&)>& visit) {
    const reset_at_end reset(query);
    query.bind(1, key);
    auto found = query.step();
    if (found && *found) visit(query);
    return found;
}

}  // namespace

result<dead_letters_sql> dead_letters_sql::open(connection& database,
                                                const message_limits& limits) {
    dead_letters_sql made(limits);
    POSTHORN_LET(order, order_keys::open(database));
    made.order_ = std::move(order);
    POSTHORN_TRY(prepare_all(
        database,
        {{&made.by_id_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE message_id = ?"},
         {&made.by_seq_, "SELECT " POSTHORN_DEAD_ROW " FROM outbox_messages WHERE seq = ?"},
         {&made.keys_, "SELECT " POSTHORN_DEAD_KEYS " FROM outbox_messages WHERE seq = ?"},
         {&made.requeue_,
          "UPDATE outbox_messages SET status = 'Pending', retry_count = 0, resolution = NULL,"
          " next_retry_at = coalesce(deliver_at, 0) WHERE seq = ?"},
         // Before the row has its new id, so that the old one is kept.
         {&made.note_,
          "INSERT INTO outbox_attempts (seq, attempt, at, error) SELECT ?1, coalesce("
          "(SELECT max(attempt) FROM outbox_attempts WHERE seq = ?1), 0) + 1, ?2,"
          " 'requeued under a new id; until then it was ' || message_id"
          " FROM outbox_messages WHERE seq = ?1"},
         {&made.renew_, "UPDATE outbox_messages SET message_id = " POSTHORN_NEW_ID
                        ", created_at = ?2, expires_at = ?2 + max(expires_at - created_at, 1000),"
                        " deliver_at = NULL WHERE seq = ?1"},
         {&made.resolve_,
          "UPDATE outbox_messages SET status = 'Resolved', resolution = ?2 WHERE seq = ?1"},
         {&made.remove_, "DELETE FROM outbox_messages WHERE seq = ?"},
         {&made.expire_,
          "UPDATE outbox_messages SET status = 'Expired', last_error ="
          " 'not delivered before it expired' || coalesce('; last: ' || last_error, '')"
          " WHERE seq = ?1 AND status = 'Dead' AND expires_at <= ?2"},
         {&made.ended_, "INSERT OR IGNORE INTO outbox_ended (seq) VALUES (?)"},
         {&made.edit_,
          "UPDATE outbox_messages SET destination = ?2, endpoint = ?3, payload = ?4,"
          " content_type = ?5, headers = ?6, max_retries = ?7 WHERE seq = ?1"},
         {&made.whole_,
          "SELECT " POSTHORN_OUTBOX_COLUMNS_WITH("payload") " FROM outbox_messages WHERE seq = ?"},
         {&made.reseal_, "UPDATE outbox_messages SET checksum = ?2 WHERE seq = ?1"}}));
    return made;
}

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
    requeue_.bind(1, seq);
    return requeue_.run();
}

result<> dead_letters_sql::place(std::int64_t seq) { return order_.place(seq); }

result<> dead_letters_sql::give_new_id(std::int64_t seq, wall_time now) {
    for (auto* each : {&note_, &renew_}) {
        each->bind(1, seq);
        each->bind(2, to_ms(now));
        POSTHORN_TRY(each->run());
    }
    return {};
}

result<> dead_letters_sql::make_resolved(std::int64_t seq, std::string_view resolution) {
    resolve_.bind(1, seq);
    resolve_.bind_or_null(2, resolution);
    return resolve_.run();
}

result<> dead_letters_sql::erase(std::int64_t seq) {
    remove_.bind(1, seq);
    return remove_.run();
}

result<bool> dead_letters_sql::make_expired(std::int64_t seq, wall_time now) {
    expire_.bind(1, seq);
    expire_.bind(2, to_ms(now));
    POSTHORN_TRY(expire_.run());
    if (sqlite3_changes(sqlite3_db_handle(expire_.handle())) == 0) return false;
    ended_.bind(1, seq);
    POSTHORN_TRY(ended_.run());
    return true;
}

result<> dead_letters_sql::write(std::int64_t seq, const message& body) {
    edit_.bind(1, seq);
    edit_.bind(2, std::string_view(body.destination));
    edit_.bind(3, std::string_view(body.endpoint));
    edit_.bind(4, std::string_view(body.payload));
    edit_.bind(5, std::string_view(body.content_type));
    edit_.bind_or_null(6, body.headers);
    edit_.bind(7, std::int64_t{body.max_retries});
    return edit_.run();
}

result<> dead_letters_sql::set_checksum(std::int64_t seq, std::int64_t sum) {
    reseal_.bind(1, seq);
    reseal_.bind(2, sum);
    return reseal_.run();
}

result<> dead_letters_sql::record_closed(std::int64_t seq, outbox_status status, wall_time at) {
    return closed_->record(seq, status, at);
}

result<> dead_letters_sql::release_next(const order_scope& of) { return outbox_->let_go(of); }

result<> dead_letters_sql::log(std::string_view kind, std::vector<std::int64_t> seqs,
                               wall_time at) {
    return changes_->append(kind, std::move(seqs), at);
}

}  // namespace posthorn::sqlite
