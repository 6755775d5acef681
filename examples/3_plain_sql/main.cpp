// Receives what `produce.sh` writes with the sqlite3 shell: any program that can INSERT can send.
#include <cstdio>
#include <future>

#include <posthorn/node.hpp>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
        return 2;
    }
    const std::string directory = arguments[1];
    posthorn::node shop({.service = "shop",
                         .database = directory + "/shop.db",
                         .shared = true,  // The shell writes to the same file.
                         .routes = {{"billing", "inprocess:"}}});
    posthorn::node billing({.service = "billing", .database = directory + "/billing.db"});
    billing.transaction([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS invoices (order_id TEXT, cents INTEGER)");
    });
    billing.handle("OrderPlaced", [](posthorn::context& c, const posthorn::message& m) {
        c.execute(
            "INSERT INTO invoices SELECT value ->> 'orderId', value ->> 'cents' FROM json_each(?)",
            "[" + m.payload + "]");
        std::printf("invoiced: %s\n", m.payload.c_str());
        std::fflush(stdout);
    });
    billing.start();
    shop.start();
    std::printf("ready: %s/shop.db\n", directory.c_str());
    std::fflush(stdout);
    shop.wait();
}
