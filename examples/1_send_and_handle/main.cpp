// Two services in one process: `orders` sends, `inventory` handles, each on its own database.
#include <cstdio>
#include <filesystem>
#include <future>
#include <string>

#include <posthorn/posthorn.hpp>

// [messages]
struct order_approved {
    using contract = posthorn::as_signal<"OrderApproved">;
    std::string order_id, approved_by;
};

struct stock_reserved {
    using contract = posthorn::as_signal<"StockReserved">;
    std::string order_id;
};
// [/messages]

int main() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-1";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    std::promise<std::string> answer;  // Outlives the nodes, whose handler sets it.

    // [core]
    posthorn::node orders({.service = "orders",
                           .store = {.database = directory / "orders.db"},
                           .routes = {{"inventory", "inprocess:"}}});
    posthorn::node inventory({.service = "inventory",
                              .store = {.database = directory / "inventory.db"},
                              .routes = {{"orders", "inprocess:"}}});

    inventory.transact(
        [](posthorn::transaction& tx) { tx.execute("CREATE TABLE reservations (order_id TEXT)"); });
    // The row, the record that this message was handled, and the answer commit together.
    inventory.handle<order_approved>([](posthorn::context& c, const order_approved& m) {
        c.execute("INSERT INTO reservations VALUES (?)", m.order_id);
        c.send("orders", stock_reserved{m.order_id}, {.order_key = m.order_id});
    });
    // Outside of the database, at least once.
    orders.handle_external<stock_reserved>(
        [&](const stock_reserved& m) { answer.set_value(m.order_id); });

    inventory.start();
    orders.start();
    orders.send("inventory", order_approved{"o1", "desk-3"});  // On disk when it returns.
    // [/core]
    std::printf("reserved: %s\n", answer.get_future().get().c_str());
}
