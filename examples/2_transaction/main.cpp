// A business change and its message commit together, or not at all: three ways.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

#include <posthorn/posthorn.hpp>

struct order_approved {
    using contract = posthorn::as_signal<"OrderApproved">;
    std::string order_id;
};

namespace {

void run(sqlite3* database, const char* sql) {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sqlite3_errmsg(database));
}

}  // namespace

int main() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-2";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const auto file = directory / "orders.db";
    posthorn::node orders({.service = "orders", .store = {.database = file}});

    // 1. Through the node: many callers share one sync.
    orders.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, items INTEGER, note TEXT)");
        tx.execute("INSERT INTO orders VALUES (?, ?, ?)", "o1", 3, "with ribbon");
        tx.send("inventory", order_approved{"o1"});
    });  // Durable here.

    // 2. An exception takes both back.
    try {
        orders.transact([](posthorn::transaction& tx) {
            tx.execute("INSERT INTO orders VALUES (?, ?, ?)", "o2", 1, nullptr);
            tx.send("inventory", order_approved{"o2"});
            throw std::runtime_error("out of stock");
        });
    } catch (const std::runtime_error& failure) {
        std::printf("o2 was not ordered: %s\n", failure.what());
    }

    // 3. On a handle of your own, inside your own transaction.
    sqlite3* mine = nullptr;
    if (sqlite3_open(file.c_str(), &mine) != SQLITE_OK) return 1;
    sqlite3_busy_timeout(mine, 5000);
    // [own-handle]
    run(mine, "BEGIN IMMEDIATE");
    run(mine, "INSERT INTO orders VALUES ('o3', 2, NULL)");
    const auto ticket = orders.send(mine, "inventory", order_approved{"o3"});
    run(mine, "COMMIT");
    orders.durable(ticket);  // Past a sync, whatever the handle's own settings are.
    // [/own-handle]
    sqlite3_close(mine);

    // Rows come as the types that are asked for; what may be NULL is a std::optional.
    // [rows]
    orders.transact([](posthorn::transaction& tx) {
        const auto rows = tx.query<std::string, int, std::optional<std::string>>(
            "SELECT id, items, note FROM orders WHERE items > ? ORDER BY id", 1);
        for (const auto& [id, items, note] : rows)
            std::printf("%s: %d items, %s\n", id.c_str(), items, note.value_or("no note").c_str());
    });
    // [/rows]

    std::printf("%lld messages wait for inventory\n",
                static_cast<long long>(orders.stats().pending));
}
