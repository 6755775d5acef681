// A workflow with a time limit, and with calls that are taken back if it ends badly. The test kit
// plays it in memory; then a node runs it.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <posthorn/flow_test.hpp>
#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

using namespace std::chrono_literals;
using posthorn::the;

// [messages]
struct order {
    std::string id;
    std::int64_t cents;
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

struct receipt {
    std::string number;
};
struct charge {
    using contract = posthorn::as_command<"Charge", receipt>;
    std::string order_id;
    std::int64_t cents;
};
using billing = posthorn::service<"billing", 1, charge>;

struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string order_id, by;
    bool approved;
    int level;
};
// [/messages]

// [workflow]
struct phase {
    std::string now = "new", by;
};

posthorn::workflow<receipt> approve_order(posthorn::flow<phase>& f, order o) {
    co_await f.call<stock>(reserve{o.id}).undo(release{o.id});  // If this ends badly.
    f.state.now = "waiting";
    const auto answer =
        co_await f.wait(the<&decided::order_id> == o.id && the<&decided::level> >= 2).within(72h);
    if (!answer) throw posthorn::failed("nothing was decided in three days");
    if (!answer->approved) throw posthorn::failed("refused by " + answer->by);
    f.state = {"paying", answer->by};
    co_return co_await f.call<billing>(charge{o.id, o.cents});
}
POSTHORN_WORKFLOW(approve_order, "ApproveOrder", 1)
// [/workflow]

// The services that it calls.
struct shelves {
    void handle(posthorn::context& c, const reserve& m) {
        c.execute("INSERT INTO reserved VALUES (?)", m.order_id);
    }
    void handle(posthorn::context& c, const release& m) {
        c.execute("DELETE FROM reserved WHERE order_id = ?", m.order_id);
    }
};
struct till {
    receipt handle(posthorn::context&, const charge& m) { return {"r-" + m.order_id}; }
};

static void run_on_nodes() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-8";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const auto options = [&](const std::string& service) {
        return posthorn::node_options{.service = service,
                                      .store = {.database = directory / (service + ".db")},
                                      .default_route = "inprocess:"};
    };
    posthorn::node warehouse(options("stock"));
    posthorn::node office(options("billing"));
    posthorn::node shop(options("shop"));
    warehouse.transact(
        [](posthorn::transaction& tx) { tx.execute("CREATE TABLE reserved (order_id TEXT)"); });
    shop.transact([](posthorn::transaction& tx) { tx.execute("CREATE TABLE orders (id TEXT)"); });
    shelves storage;
    till counter;
    posthorn::offer<stock> offered(warehouse, storage);
    posthorn::offer<billing> also_offered(office, counter);
    warehouse.start();
    office.start();

    // [node]
    shop.add(approve_order);  // Before it starts; those that are open go on then.
    shop.start();
    shop.transact([](posthorn::transaction& tx) {
        tx.execute("INSERT INTO orders VALUES ('o4')");
        tx.start(approve_order, "o4", order{"o4", 995});
    });
    shop.signal(
        decided{"o4", "ann", true, 3});  // Early or late: it is kept until it is waited for.
    const auto end = shop.wait_for_end(approve_order, "o4", 30s);
    std::printf("o4: %s, approved by %s\n", end.result.c_str(),
                shop.state<phase>(approve_order, "o4")->by.c_str());
    // [/node]
}

int main() {
    // [test]
    posthorn::flow_test t(approve_order, order{"o1", 995});
    t.expect_call<reserve>().answer();
    t.advance(71h);
    t.signal(decided{"o1", "the trainee", true, 1});  // Of too low a level: it fits no wait.
    t.signal(decided{"o1", "ann", true, 3});
    t.expect_call<charge>().answer(receipt{"r1"});
    std::printf("o1: receipt %s, approved by %s\n", t.result().number.c_str(),
                t.state().by.c_str());
    t.crash_everywhere();
    t.explore(100);
    // [/test]

    // [late]
    posthorn::flow_test late(approve_order, order{"o2", 50});
    late.expect_call<reserve>().answer();
    late.advance(72h);
    late.expect_call<release>().answer();  // What was reserved is given back first.
    std::printf("o2: %s\n", late.failure().c_str());
    // [/late]

    posthorn::flow_test unpaid(approve_order, order{"o3", 7'000'000});
    unpaid.expect_call<reserve>().answer();
    unpaid.signal(decided{"o3", "bob", true, 2});
    unpaid.expect_call<charge>().refuse("the card is blocked");
    unpaid.expect_call<release>().answer();
    std::printf("o3: %s\n", unpaid.failure().c_str());

    run_on_nodes();
}
