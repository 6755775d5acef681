#include "cost/old_database.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/storage/sqlite_connection.hpp"

namespace posthorn::cost {

std::unique_ptr<node_runtime> open_node(const std::string& service, const std::string& database) {
    config settings;
    settings.service.id = service;
    settings.store.url.path = database;
    settings.store.shared = false;
    settings.listen.http.reset();
    settings.listen.admin.reset();
    settings.log.level = log_level::error;
    settings.outbox.drain_timeout = std::chrono::milliseconds{0};
    settings.routes["billing"].url = "inprocess:";
    return value_or_throw(node_runtime::open(std::move(settings), {}));
}

void make_database(const std::filesystem::path& database, const old_messages& old) {
    {
        const auto made = open_node("orders", database.string());
    }
    conformance::sqlite_connection plain(database.string(), nullptr, conformance::durability::none);
    const auto run = [&](const std::string& sql) { ASSERT_EQ(plain.run(sql), std::nullopt); };
    const auto insert = [&](int first, int count, std::string_view status) {
        if (count == 0) return;
        run(fmt::format(
            "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT {}) "
            "INSERT INTO outbox_messages(message_id, destination, endpoint, payload, status, "
            "created_at, expires_at, sent_at, last_error) "
            "SELECT printf('01900000-0000-7000-8000-%012x', i), 'billing', 'Charge', "
            "'{{\"amount\":1}}', '{}', 1700000000000, 1700086400000, "
            "{}, 'no answer' FROM n",
            first, count, status, status == "Sent" ? "1700000000000 + i" : "NULL"));
    };
    insert(1, old.sent, "Sent");
    insert(old.sent + 1, old.dead, "Dead");
    run("INSERT OR IGNORE INTO outbox_closed (seq, status, at) "
        "SELECT seq, status, created_at FROM outbox_messages WHERE status = 'Dead'");
}

}  // namespace posthorn::cost
