#include "queue/queue.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace posthorn {
namespace {

constexpr std::array steps{migration{
    1,
    "CREATE TABLE IF NOT EXISTS posthorn_queue ("
    // The next number is one more than the highest ever, so the last one there is would be the end.
    " seq INTEGER PRIMARY KEY AUTOINCREMENT"
    " CONSTRAINT seq_in_range CHECK (seq BETWEEN 1 AND 4611686018427387903),"
    " message_id TEXT NOT NULL,"
    " source TEXT NOT NULL,"
    " endpoint TEXT NOT NULL,"
    " message_type TEXT NOT NULL,"
    " correlation_id TEXT,"
    " tenant TEXT,"
    " order_key TEXT,"
    " payload TEXT NOT NULL,"
    " content_type TEXT NOT NULL,"
    " headers TEXT,"
    " received_at INTEGER NOT NULL CHECK (typeof(received_at) = 'integer'),"
    " taken_by TEXT,"
    " taken_until INTEGER NOT NULL DEFAULT 0 CHECK (typeof(taken_until) = 'integer'),"
    " attempts INTEGER NOT NULL DEFAULT 0 CHECK (typeof(attempts) = 'integer'));"
    "CREATE INDEX IF NOT EXISTS idx_queue_endpoint ON posthorn_queue (endpoint, seq);"
    "CREATE INDEX IF NOT EXISTS idx_queue_order ON posthorn_queue (endpoint, order_key, seq)"
    " WHERE order_key IS NOT NULL;"}};

constexpr std::array steps_on_server{
    migration{1,
              "CREATE TABLE {s}.posthorn_queue ("
              " seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
              " message_id text NOT NULL,"
              " source text NOT NULL,"
              " endpoint text NOT NULL,"
              " message_type text NOT NULL,"
              " correlation_id text,"
              " tenant text,"
              " order_key text,"
              " payload text NOT NULL,"
              " content_type text NOT NULL,"
              " headers text,"
              " received_at bigint NOT NULL,"
              " taken_by text,"
              " taken_until bigint NOT NULL DEFAULT 0,"
              " attempts bigint NOT NULL DEFAULT 0)"
              " WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);"
              "CREATE INDEX queue_endpoint ON {s}.posthorn_queue (endpoint, seq);"
              "CREATE INDEX queue_order ON {s}.posthorn_queue (endpoint, order_key, seq)"
              " WHERE order_key IS NOT NULL;"}};

using column = copied_table::column;
using enum copied_table::column::kind;
constexpr std::array columns{column{"seq", number},     column{"message_id"},
                             column{"source"},          column{"endpoint"},
                             column{"message_type"},    column{"correlation_id"},
                             column{"tenant"},          column{"order_key"},
                             column{"payload"},         column{"content_type"},
                             column{"headers"},         column{"received_at", number},
                             column{"taken_by"},        column{"taken_until", number},
                             column{"attempts", number}};
constexpr std::array copied{
    copied_table{.name = "posthorn_queue", .columns = columns, .numbered_by = "seq"}};

constexpr std::string_view insert_sql =
    "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, correlation_id,"
    " tenant, order_key, payload, content_type, headers, received_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

// ?1 endpoint, ?2 now, ?3 limit, ?4 owner, ?5 until.
constexpr std::string_view take_sql =
    // A number that a program wrote is not counted past its end.
    "UPDATE posthorn_queue SET taken_by = ?4, taken_until = ?5, attempts = attempts +"
    " CASE WHEN attempts < 9223372036854775807 THEN 1 ELSE 0 END"
    " WHERE seq IN (SELECT seq FROM posthorn_queue AS q"
    "  WHERE endpoint = ?1 AND taken_until <= ?2 AND (order_key IS NULL OR NOT EXISTS ("
    "   SELECT 1 FROM posthorn_queue AS held WHERE held.endpoint = q.endpoint"
    "   AND held.order_key = q.order_key AND held.taken_until > ?2"
    // A later one is in the way if another has it; one that was put off is not.
    "   AND (held.seq < q.seq OR (held.seq > q.seq AND held.taken_by <> ?4))))"
    "  ORDER BY seq LIMIT ?3)"
    " RETURNING seq, message_id, source, endpoint, message_type, correlation_id, tenant,"
    " order_key, payload, content_type, headers, received_at, taken_until, attempts";

constexpr std::string_view acknowledge_sql =
    "DELETE FROM posthorn_queue WHERE seq = ? AND taken_by = ?";

constexpr std::string_view release_sql =
    "UPDATE posthorn_queue SET taken_by = NULL, taken_until = ? WHERE seq = ? AND taken_by = ?";

std::int64_t count_of(wall_time time) { return time.time_since_epoch().count(); }
wall_time time_of(std::int64_t count) { return wall_time(std::chrono::milliseconds(count)); }

queued_message read(const sql_row& row) {
    const auto text = [&](std::size_t at) { return std::string(row.text(at)); };
    return {.seq = row.integer(0),
            .message_id = text(1),
            .source = text(2),
            .endpoint = text(3),
            .message_type = text(4),
            .correlation_id = text(5),
            .tenant = text(6),
            .order_key = text(7),
            .payload = text(8),
            .content_type = text(9),
            .headers = text(10),
            .received_at = time_of(row.integer(11)),
            .taken_until = time_of(row.integer(12)),
            .attempts = row.integer(13)};
}

std::optional<std::string_view> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace

table_set queue_tables() noexcept {
    return {{"inbox/queue", steps}, {"inbox/queue", steps_on_server}, copied};
}

transactional_handler make_queue_handler(const clock& time) {
    return [&time](context& with, const message& got) {
        with.execute(insert_sql, got.id.to_string(), got.source, got.endpoint, to_string(got.type),
                     or_null(got.correlation_id), or_null(got.tenant), or_null(got.order_key),
                     got.payload, got.content_type, or_null(got.headers), count_of(time.wall()));
        return std::string{};
    };
}

result<std::vector<queued_message>> take_queued(store_transaction& tx, const queue_take& asked,
                                                wall_time now) {
    const std::array<sql_param, 5> with{std::string_view(asked.endpoint), count_of(now),
                                        asked.limit, std::string_view(asked.owner),
                                        count_of(now + asked.lease)};
    // Takers look one after the other for what is not held: a statement that waits for a row sees
    // the row as it is then, but not whether the others of its key are held.
    POSTHORN_TRY(tx.take_turn("posthorn_queue", asked.endpoint));
    std::vector<queued_message> taken;
    POSTHORN_TRY(tx.query(take_sql, with, [&](const sql_row& row) { taken.push_back(read(row)); }));
    std::ranges::sort(taken, {}, &queued_message::seq);  // RETURNING promises no order.
    return taken;
}

result<std::int64_t> acknowledge_queued(store_transaction& tx, const queue_receipt& done) {
    std::int64_t count = 0;
    for (const auto seq : done.seqs) {
        const std::array<sql_param, 2> with{seq, std::string_view(done.owner)};
        const auto changed = tx.execute(acknowledge_sql, with);
        if (!changed) return changed;
        count += *changed;
    }
    return count;
}

result<std::int64_t> release_queued(store_transaction& tx, const queue_receipt& back,
                                    wall_time free_at) {
    std::int64_t count = 0;
    for (const auto seq : back.seqs) {
        const std::array<sql_param, 3> with{count_of(free_at), seq, std::string_view(back.owner)};
        const auto changed = tx.execute(release_sql, with);
        if (!changed) return changed;
        count += *changed;
    }
    return count;
}

}  // namespace posthorn
