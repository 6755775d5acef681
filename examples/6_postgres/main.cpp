// Two instances of one service on one PostgreSQL database, and the service that they send to. Give
// the database's URL: example_6_postgres postgresql://user@host/database
#include <atomic>
#include <cstdio>
#include <future>
#include <memory>
#include <string>

#include <posthorn/posthorn.hpp>

struct order_approved {
    using contract = posthorn::as_signal<"OrderApproved">;
    std::string order_id;
};

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: example_6_postgres postgresql://user@host/database\n");
        return 2;
    }
    const std::string url = arguments[1];
    constexpr int orders = 20;
    std::atomic<int> reserved = 0;
    std::promise<void> all;  // Both outlive the nodes, whose handler uses them.

    // [core]
    posthorn::node inventory(
        {.service = "inventory", .store = {.database = url, .schema = "example_inventory"}});
    inventory.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS example_reservations (order_id text PRIMARY KEY)");
        tx.execute("DELETE FROM example_reservations");
    });
    inventory.handle<order_approved>([&](posthorn::context& c, const order_approved& m) {
        // A second time this would fail: the key is there.
        c.execute("INSERT INTO example_reservations VALUES (?)", m.order_id);
        if (++reserved == orders) all.set_value();
    });
    inventory.start();

    // The same service twice, as on two machines. Both dispatch, each what it has claimed.
    const posthorn::node_options shop{.service = "shop",
                                      .store = {.database = url, .schema = "example_shop"},
                                      .routes = {{"inventory", "inprocess:"}},
                                      .parts = posthorn::node_parts::outbox};
    auto first = std::make_unique<posthorn::node>(shop);
    posthorn::node second(shop);
    first->start();
    second.start();
    for (int i = 0; i < orders; ++i) {
        auto& instance = i % 2 == 0 && first ? *first : second;
        instance.send("inventory", order_approved{"o" + std::to_string(i)});
        if (i == orders / 2) first.reset();  // The second takes over; nothing is lost or doubled.
    }
    // [/core]
    all.get_future().get();
    std::printf("reserved: %d, each once\n", reserved.load());
}
