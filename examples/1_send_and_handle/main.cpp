// Two services in one process: `orders` sends, `inventory` handles, each on its own database.
#include <cstdio>
#include <filesystem>
#include <future>

#include <posthorn/node.hpp>

int main() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-1";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);

    // [core]
    posthorn::node orders({.service = "orders",
                           .database = directory / "orders.db",
                           .routes = {{"inventory", "inprocess:"}}});
    posthorn::node inventory({.service = "inventory",
                              .database = directory / "inventory.db",
                              .routes = {{"orders", "inprocess:"}}});

    inventory.transaction(
        [](posthorn::transaction& tx) { tx.execute("CREATE TABLE reservations (order_id TEXT)"); });
    // The row, the record that this message was handled, and the answer commit together.
    inventory.handle("OrderApproved", [](posthorn::context& c, const posthorn::message& m) {
        c.execute("INSERT INTO reservations VALUES (json_extract(?, '$.orderId'))", m.payload);
        c.send("orders", "StockReserved", m.payload);
    });
    std::promise<std::string> answer;
    // Outside of the database, at least once; the message's id tells a repeat.
    orders.handle_external("StockReserved",
                           [&](const posthorn::message& m) { answer.set_value(m.payload); });

    inventory.start();
    orders.start();
    orders.send("inventory", "OrderApproved", R"({"orderId": "o1"})");  // On disk when it returns.
    // [/core]
    std::printf("reserved: %s\n", answer.get_future().get().c_str());
}
