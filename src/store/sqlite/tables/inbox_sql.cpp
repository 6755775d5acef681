#include "store/sqlite/tables/inbox_sql.hpp"

#include <algorithm>

#include <sqlite3.h>

#include "base/checksum.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

constexpr std::string_view find_sql =
    "SELECT body_hash, processed_at IS NOT NULL, response_payload, claim_until, claim_owner,"
    " response_checksum FROM inbox_messages WHERE source_service_id = ? AND message_id = ?";

std::int64_t checksum_of(std::string_view response) {
    checksum sum;
    sum.add(response);
    return sum.value();
}

/// The response and what is kept to know it by; nothing for none.
void bind_response(statement& to, int response, int sum, std::string_view value) {
    to.bind_or_null(response, value);
    if (value.empty())
        to.bind(sum, nullptr);
    else
        to.bind(sum, checksum_of(value));
}

result<std::optional<inbox_entry>> find_entry(statement& find, const inbox_key& key) {
    const reset_at_end reset(find);
    find.bind(1, key.source);
    find.bind(2, key.id);
    POSTHORN_LET(row, find.step());
    if (!row) return std::nullopt;
    inbox_entry entry;
    const auto hash = find.bytes(0);
    std::copy_n(hash.begin(), std::min(hash.size(), entry.hash.size()), entry.hash.begin());
    entry.processed = find.get<bool>(1);
    entry.response = find.text(2);
    entry.claimed_until = from_ms(find.integer(3));
    entry.claim_owner = find.text(4);
    if (!find.is_null(5) && find.integer(5) != checksum_of(entry.response))
        return fail(error_code::store_corrupt,
                    "the response to {} is not what was stored: the disk has changed it; run "
                    "'posthorn doctor --full'",
                    key.id.to_string());
    return entry;
}

}  // namespace

result<inbox_sql> inbox_sql::open(connection& database) {
    inbox_sql table;
    POSTHORN_TRY(prepare_all(
        database,
        {{&table.find_, find_sql},
         // A plain INSERT: UPSERT has a bug with indexes in SQLite 3.40.
         {&table.insert_,
          "INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,"
          " processed_at, response_payload, expires_at, response_checksum)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"},
         {&table.respond_,
          "UPDATE inbox_messages SET response_payload = ?3, response_checksum = ?4"
          " WHERE source_service_id = ?1 AND message_id = ?2"},
         {&table.claim_,
          "INSERT INTO inbox_messages (source_service_id, message_id, endpoint, body_hash,"
          " claim_owner, claim_until, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)"},
         {&table.take_over_,
          "UPDATE inbox_messages SET claim_owner = ?3, claim_until = ?4"
          " WHERE source_service_id = ?1 AND message_id = ?2 AND processed_at IS NULL"
          " AND claim_until <= ?5"},
         {&table.complete_,
          "UPDATE inbox_messages SET processed_at = ?4, response_payload = ?5, expires_at = ?6,"
          " response_checksum = ?7, claim_owner = NULL, claim_until = NULL"
          " WHERE source_service_id = ?1 AND message_id = ?2 AND claim_owner = ?3 RETURNING seq"},
         {&table.release_,
          "DELETE FROM inbox_messages WHERE source_service_id = ? AND message_id = ?"
          " AND claim_owner = ? AND processed_at IS NULL"}}));
    return table;
}

result<std::optional<inbox_entry>> inbox_sql::find(const inbox_key& key) {
    return find_entry(find_, key);
}

// False where a constraint, or a condition of the statement, kept it from changing a row.
result<bool> inbox_sql::run_once(statement& change) {
    auto stepped = change.step();
    sqlite3* const database = sqlite3_db_handle(change.handle());
    const bool exists = !stepped && sqlite3_extended_errcode(database) == SQLITE_CONSTRAINT_UNIQUE;
    change.reset();
    if (exists) return false;
    if (!stepped) return std::unexpected(std::move(stepped).error());
    return sqlite3_changes(database) > 0;
}

result<bool> inbox_sql::insert(const inbox_record& record) {
    POSTHORN_TRY(room_->require_room());
    insert_.bind(1, record.key.source);
    insert_.bind(2, record.key.id);
    insert_.bind(3, record.endpoint);
    insert_.bind(4, blob{record.hash});
    insert_.bind(5, to_ms(record.processed_at));
    bind_response(insert_, 6, 8, record.response);
    insert_.bind(7, to_ms(record.expires_at));
    auto inserted = run_once(insert_);
    if (inserted && *inserted)
        received_.push_back(sqlite3_last_insert_rowid(sqlite3_db_handle(insert_.handle())));
    return inserted;
}

result<> inbox_sql::respond(const inbox_key& key, std::string_view response) {
    respond_.bind(1, key.source);
    respond_.bind(2, key.id);
    bind_response(respond_, 3, 4, response);
    return respond_.run();
}

result<bool> inbox_sql::claim(const inbox_claim& wanted, wall_time now) {
    POSTHORN_TRY(room_->require_room());
    claim_.bind(1, wanted.key.source);
    claim_.bind(2, wanted.key.id);
    claim_.bind(3, wanted.endpoint);
    claim_.bind(4, blob{wanted.hash});
    claim_.bind(5, wanted.owner);
    claim_.bind(6, to_ms(wanted.until));
    claim_.bind(7, to_ms(wanted.expires_at));
    auto claimed = run_once(claim_);
    if (!claimed || *claimed) return claimed;
    take_over_.bind(1, wanted.key.source);
    take_over_.bind(2, wanted.key.id);
    take_over_.bind(3, wanted.owner);
    take_over_.bind(4, to_ms(wanted.until));
    take_over_.bind(5, to_ms(now));
    return run_once(take_over_);
}

result<bool> inbox_sql::complete(const inbox_record& record, std::string_view owner) {
    complete_.bind(1, record.key.source);
    complete_.bind(2, record.key.id);
    complete_.bind(3, owner);
    complete_.bind(4, to_ms(record.processed_at));
    bind_response(complete_, 5, 7, record.response);
    complete_.bind(6, to_ms(record.expires_at));
    const reset_at_end reset(complete_);
    auto row = complete_.step();
    if (!row || !*row) return row;
    received_.push_back(complete_.integer(0));
    // A statement that returns rows has done its work only once it has been stepped to its end.
    if (auto end = complete_.step(); !end) return end;
    return true;
}

result<bool> inbox_sql::release(const inbox_key& key, std::string_view owner) {
    release_.bind(1, key.source);
    release_.bind(2, key.id);
    release_.bind(3, owner);
    return run_once(release_);
}

result<inbox_reading> inbox_reading::open(connection& database) {
    inbox_reading reading;
    POSTHORN_TRY(prepare_all(database, {{&reading.find_, find_sql},
                                        {&reading.count_, "SELECT count(*) FROM inbox_messages"}}));
    return reading;
}

result<std::optional<inbox_entry>> inbox_reading::find(const inbox_key& key) {
    return find_entry(find_, key);
}

result<std::int64_t> inbox_reading::count() {
    const reset_at_end reset(count_);
    POSTHORN_TRY(count_.step());
    return count_.integer(0);
}

}  // namespace posthorn::sqlite
