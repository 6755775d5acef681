// Receives what `produce.sh` writes with the sqlite3 shell: any program that can INSERT can send.
#include <cstdint>
#include <cstdio>
#include <string>

#include <posthorn/posthorn.hpp>

struct order_placed {
    using contract = posthorn::as_signal<"OrderPlaced">;
    std::string order_id;
    std::int64_t cents = 0;
};

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
        return 2;
    }
    const std::string directory = arguments[1];
    posthorn::node shop({.service = "shop",
                         .store = {.database = directory + "/shop.db",
                                   .shared = true},  // The shell writes to the same file.
                         .routes = {{"billing", "inprocess:"}}});
    posthorn::node billing(
        {.service = "billing", .store = {.database = directory + "/billing.db"}});
    billing.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS invoices (order_id TEXT, cents INTEGER)");
    });
    billing.handle<order_placed>([](posthorn::context& c, const order_placed& m) {
        c.execute("INSERT INTO invoices VALUES (?, ?)", m.order_id, m.cents);
        std::printf("invoiced: %s over %lld cents\n", m.order_id.c_str(),
                    static_cast<long long>(m.cents));
        std::fflush(stdout);
    });
    billing.start();
    shop.start();
    std::printf("ready: %s/shop.db\n", directory.c_str());
    std::fflush(stdout);
    shop.wait();
}
