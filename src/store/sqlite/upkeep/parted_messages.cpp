#include "store/sqlite/upkeep/parted_messages.hpp"

#include <utility>

#include <sqlite3.h>

#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto* newest_sent =
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'outbox_messages'), 0)";
constexpr auto* newest_taken = "SELECT coalesce(max(seq), 0) FROM inbox_messages";

result<connection> open_to_look(const std::string& database) {
    POSTHORN_LET(opened, connection::open({.path = database}));
    sqlite3_db_config(opened.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return std::move(opened);
}

result<std::uint64_t> count(connection& database, std::string_view sql, std::int64_t after) {
    statement counted(database, sql);
    POSTHORN_LET(rows, counted.run(after));
    return static_cast<std::uint64_t>(rows.front().integer(0));
}

result<> list(connection& database, std::string_view sql, std::int64_t after, parted_messages& into,
              bool is_outbox) {
    statement listed(database, sql);
    POSTHORN_LET(rows, listed.run(after));
    return rows.each([&](const prepared& row) {
        if (into.listed.size() >= parted_messages::listed_max) return;
        into.listed.push_back({.is_outbox = is_outbox,
                               .id = std::string(row.text(0)),
                               .peer = std::string(row.text(1)),
                               .endpoint = std::string(row.text(2)),
                               .status = std::string(row.text(3))});
    });
}

}  // namespace

result<message_numbers> numbers_of(const std::string& database) {
    POSTHORN_LET(opened, open_to_look(database));
    message_numbers found;
    POSTHORN_LET(sent, opened.integer(newest_sent));
    POSTHORN_LET(taken, opened.integer(newest_taken));
    found.outbox = sent;
    found.inbox = taken;
    return found;
}

result<parted_messages> messages_after(const std::string& database, const message_numbers& before) {
    POSTHORN_LET(opened, open_to_look(database));
    parted_messages found;
    POSTHORN_TRY(list(opened,
                      "SELECT message_id, destination, endpoint, status FROM outbox_messages"
                      " WHERE seq > ? ORDER BY seq LIMIT 1000",
                      before.outbox, found, true));
    POSTHORN_TRY(list(opened,
                      "SELECT message_id, source_service_id, endpoint, '' FROM inbox_messages"
                      " WHERE seq > ? ORDER BY seq LIMIT 1000",
                      before.inbox, found, false));
    POSTHORN_LET(
        sent, count(opened, "SELECT count(*) FROM outbox_messages WHERE seq > ?", before.outbox));
    POSTHORN_LET(taken,
                 count(opened, "SELECT count(*) FROM inbox_messages WHERE seq > ?", before.inbox));
    found.outbox = sent;
    found.inbox = taken;
    return found;
}

}  // namespace posthorn::sqlite
