// Two services in two processes, each with its own database, talking over HTTP.
//
// 4_two_services inventory inventory.toml    offers a service until it is told to stop
// 4_two_services shop shop.toml              orders something there, and prints what is left
//
// run.sh starts both. Kill either at any moment and start it again: each order counts once.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <posthorn/posthorn.hpp>

// What both sides share.
struct stock_left {
    std::int64_t quantity;
};

struct reserve {
    using contract = posthorn::as_command<"Reserve", stock_left>;
    std::string sku;
    std::int64_t quantity;
};

using inventory = posthorn::service<"inventory", 1, reserve>;

// [inventory]
struct shelf {
    stock_left handle(posthorn::context& c, const reserve& m) {
        const auto changed =
            c.execute("UPDATE stock SET quantity = quantity - ? WHERE sku = ? AND quantity >= ?",
                      m.quantity, m.sku, m.quantity);
        if (changed == 0) throw posthorn::permanent("there is not enough " + m.sku);
        return {*c.query_value<std::int64_t>("SELECT quantity FROM stock WHERE sku = ?", m.sku)};
    }
};

void run_inventory(const std::string& configuration) {
    posthorn::node node{posthorn::load(configuration)};
    node.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS stock (sku TEXT PRIMARY KEY, quantity INTEGER)");
        tx.execute("INSERT OR IGNORE INTO stock VALUES ('tea', 10)");
    });
    shelf goods;
    posthorn::offer<inventory> offered(node, goods);
    node.start();
    std::puts("inventory is open");
    std::fflush(stdout);
    node.wait();  // SIGTERM drains.
}
// [/inventory]

// [shop]
void run_shop(const std::string& configuration) {
    posthorn::node node{posthorn::load(configuration)};
    posthorn::proxy<inventory> goods(node);
    node.start();
    const stock_left left = goods.call(reserve{"tea", 3}).get(std::chrono::seconds{60});
    std::printf("ordered 3 of tea, %lld are left\n", static_cast<long long>(left.quantity));
    try {
        goods.call(reserve{"tea", 1000}).get(std::chrono::seconds{60});
    } catch (const posthorn::error& why) {
        std::printf("%s\n", why.what());
    }
}
// [/shop]

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("usage: 4_two_services inventory|shop CONFIGURATION\n", stderr);
        return 2;
    }
    try {
        if (std::string_view(words[1]) == "inventory")
            run_inventory(words[2]);
        else
            run_shop(words[2]);
    } catch (const posthorn::error& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
