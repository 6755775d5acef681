// A shop whose orders are workflows, with its stock and its till. Started again after a kill it goes
// on where it was, and it ends when all orders have. Usage: crash_shop DIRECTORY ORDERS
// `crash_shop DIRECTORY serve` has the order s1, which waits for a decision, and runs until SIGTERM.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

namespace {

using namespace std::chrono_literals;
using posthorn::the;

struct order {
    std::string id;
    std::int64_t cents = 0;
};
struct reserve {
    using contract = posthorn::as_command<"Reserve">;
    std::string order_id;
};
struct release {
    using contract = posthorn::as_command<"Release">;
    std::string order_id;
};
using stock = posthorn::service<"stock", 1, reserve, release>;
struct charge {
    using contract = posthorn::as_command<"Charge", std::string>;
    std::string order_id;
    std::int64_t cents = 0;
};
using billing = posthorn::service<"billing", 1, charge>;
struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string order_id;
    bool approved = false;
};
struct phase {
    std::string now = "new";
};

posthorn::workflow<std::string> approve(posthorn::flow<phase>& f, order o) {
    co_await f.call<stock>(reserve{o.id}).undo(release{o.id});
    f.state.now = "waiting";
    const auto answer = co_await f.wait(the<&decided::order_id> == o.id).within(72h);
    if (!answer || !answer->approved) throw posthorn::failed("refused");
    f.state.now = "paying";
    const auto receipt = co_await f.call<billing>(charge{o.id, o.cents});
    co_await f.sleep(1ms);
    co_await f.transact(
        [o](posthorn::transaction& tx) { tx.execute("INSERT INTO shipped VALUES (?)", o.id); });
    co_return receipt;
}
POSTHORN_WORKFLOW(approve, "Approve", 1)

/// A kill may come at any of these lines, inside the transaction that they are of.
void tell(const std::string& what) { std::cout << what << std::endl; }

struct shelves {
    void handle(posthorn::context& c, const reserve& m) {
        c.execute("INSERT INTO done VALUES ('reserve', ?)", m.order_id);
        tell("reserve " + m.order_id);
    }
    void handle(posthorn::context& c, const release& m) {
        c.execute("INSERT INTO done VALUES ('release', ?)", m.order_id);
        tell("release " + m.order_id);
    }
};
struct till {
    std::string handle(posthorn::context& c, const charge& m) {
        if (m.cents == 0) throw posthorn::permanent("there is nothing to pay");
        c.execute("INSERT INTO done VALUES ('charge', ?)", m.order_id);
        tell("charge " + m.order_id);
        return "r-" + m.order_id;
    }
};

posthorn::node_options options(const std::string& directory, const std::string& service) {
    return {.service = service,
            .store = {.database = directory + "/" + service + ".db"},
            .default_route = "inprocess:",
            .log_sink = [](std::string_view) {}};
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) return 2;
    const std::string directory = words[1];
    const int orders = std::atoi(words[2]);
    posthorn::node warehouse(options(directory, "stock"));
    posthorn::node office(options(directory, "billing"));
    posthorn::node shop(options(directory, "shop"));
    for (auto* const each : {&warehouse, &office})
        each->transact([](posthorn::transaction& tx) {
            tx.execute("CREATE TABLE IF NOT EXISTS done (what TEXT, id TEXT)");
        });
    shop.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS shipped (id TEXT)");
    });
    shelves storage;
    till counter;
    posthorn::offer<stock> offered(warehouse, storage);
    posthorn::offer<billing> also_offered(office, counter);
    warehouse.start();
    office.start();
    shop.add(approve);
    shop.start();
    if (words[2] == std::string_view("serve")) {
        if (!shop.find(approve, "s1"))
            shop.transact(
                [](posthorn::transaction& tx) { tx.start(approve, "s1", order{"s1", 995}); });
        tell("ready");
        shop.wait();
        return 0;
    }
    // Every third order is refused, every fifth cannot be paid.
    for (int i = 1; i <= orders; ++i) {
        const auto id = std::to_string(i);
        if (shop.find(approve, id)) continue;
        try {
            shop.transact([&](posthorn::transaction& tx) {
                tx.start(approve, id, order{id, i % 5 == 0 ? 0 : i});
                tx.signal(decided{id, i % 3 != 0});
            });
        } catch (const posthorn::error& refused) {  // Another shop on the same file was faster.
            if (refused.code() != posthorn::error_code::duplicate_id) throw;
        }
    }
    for (int i = 1; i <= orders; ++i) shop.wait_for_end(approve, std::to_string(i), 60s);
    tell("done");
    return 0;
}
