// A versioned service: described once, offered by one node and called by another.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <posthorn/posthorn.hpp>

// [service]
struct receipt {
    std::string number;
    std::int64_t cents;
};

struct charge {
    using contract = posthorn::as_command<"Charge", receipt>;
    std::string order_id;
    std::int64_t cents;
};

struct order_cancelled {
    std::string order_id;
};
// From outside: for a struct that is not yours, or fields that are to travel under other names.
POSTHORN_SIGNAL(order_cancelled, "OrderCancelled", (order_id, "order"))

using billing = posthorn::service<"billing", 1, charge, order_cancelled>;
// [/service]

// [implementation]
struct till {
    receipt handle(posthorn::context& c, const charge& m) {
        c.execute("INSERT INTO charges VALUES (?, ?)", m.order_id, m.cents);
        return {"r-" + m.order_id, m.cents};
    }
    void handle(posthorn::context& c, const order_cancelled& m) {
        c.execute("DELETE FROM charges WHERE order_id = ?", m.order_id);
    }
};
// [/implementation]

int main() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-7";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    posthorn::node office({.service = "billing",
                           .store = {.database = directory / "billing.db"},
                           .routes = {{"shop", "inprocess:"}}});
    posthorn::node shop({.service = "shop",
                         .store = {.database = directory / "shop.db"},
                         .routes = {{"billing", "inprocess:"}}});
    office.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE charges (order_id TEXT, cents INTEGER)");
    });

    // [call]
    till counter;
    posthorn::offer<billing> offered(office, counter);
    posthorn::proxy<billing> bill(shop);
    office.start();  // Refused if a message of the service had no handler.
    shop.start();    // Refused if there were no route to the service.

    const receipt paid = bill.call(charge{"o1", 995}).get();
    bill.send(order_cancelled{"o2"});
    // [/call]
    std::printf("receipt %s over %lld cents\n", paid.number.c_str(),
                static_cast<long long>(paid.cents));
}
