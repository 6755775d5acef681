// A state machine over signals and time: whatever comes first decides what is done next. The test
// kit plays a year of it in memory; then a node runs it.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include <posthorn/flow_test.hpp>
#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

using namespace std::chrono_literals;

using posthorn::the;
using std::chrono::days;

struct customer {
    std::string id;
    std::int64_t cents;  // A month.
};
struct ended {
    using contract = posthorn::as_signal<"SubscriptionEnded">;
    std::string customer_id;
};
struct card_changed {
    using contract = posthorn::as_signal<"CardChanged">;
    std::string customer_id, card;
};
struct collect {
    using contract = posthorn::as_command<"Collect">;
    std::string customer_id, card;
    std::int64_t cents;
};
using payments = posthorn::service<"payments", 1, collect>;

// [workflow]
struct plan {
    std::string card = "none";
    int months_paid = 0;
    posthorn::wall_time paid_until{};
};

// A year at most: the number of steps has a bound, and so has what is recorded.
posthorn::workflow<int> subscription(posthorn::flow<plan>& f, customer c) {
    f.state.paid_until = f.now();
    auto end = f.wait(the<&ended::customer_id> == c.id);
    while (f.state.months_paid < 12) {
        auto next = co_await f.first(end, f.wait(the<&card_changed::customer_id> == c.id),
                                     f.sleep_until(f.state.paid_until));
        if (next.index() == 0) break;
        if (next.index() == 1) {
            f.state.card = std::get<1>(next).card;
            continue;
        }
        const auto paid =
            co_await f.call<payments>(collect{c.id, f.state.card, c.cents}).as_outcome();
        if (!paid) throw posthorn::failed("not paid: " + std::string(paid.error().what()));
        ++f.state.months_paid;
        f.state.paid_until += days{30};
    }
    co_return f.state.months_paid;
}
POSTHORN_WORKFLOW(subscription, "Subscription", 1)
// [/workflow]

// The service that it calls.
struct cashier {
    void handle(posthorn::context& c, const collect& m) {
        c.execute("INSERT INTO collected VALUES (?, ?)", m.customer_id, m.cents);
    }
};

static void run_on_nodes() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-10";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const auto options = [&](const std::string& service) {
        return posthorn::node_options{.service = service,
                                      .store = {.database = directory / (service + ".db")},
                                      .default_route = "inprocess:",
                                      .log_sink = [](std::string_view) {}};  // We print enough.
    };
    posthorn::node bank(options("payments"));
    posthorn::node shop(options("shop"));
    bank.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE collected (customer TEXT, cents INTEGER)");
    });
    cashier till;
    posthorn::offer<payments> offered(bank, till);
    bank.start();
    shop.add(subscription);
    shop.start();
    shop.transact([](posthorn::transaction& tx) {
        tx.start(subscription, "c3", customer{"c3", 500});
        tx.start(subscription, "c4", customer{"c4", 700});
    });
    // Each signal finds its customer's subscription, whatever that is doing at the time.
    shop.signal(card_changed{"c3", "4000-3"});
    shop.cancel(subscription, "c4", "never paid");
    const auto cancelled = shop.wait_for_end(subscription, "c4", 30s);
    shop.signal(ended{"c3"});
    const auto end = shop.wait_for_end(subscription, "c3", 30s);
    if (end.status != posthorn::flow_status::completed) std::printf("c3: %s\n", end.reason.c_str());
    std::printf("c3 ended, c4 was cancelled: %s\n", cancelled.reason.c_str());
}

int main() {
    posthorn::flow_test t(subscription, customer{"c1", 500});
    t.expect_call<collect>().answer();  // The first month is due at once.
    t.advance(days{10});
    t.signal(card_changed{"c1", "4000-1"});
    t.advance(days{20});
    auto second = t.expect_call<collect>();
    std::printf("the second month is paid with card %s\n", second.payload().card.c_str());
    second.answer();
    t.signal(ended{"c1"});
    std::printf("%d months were paid\n", t.result());
    t.crash_everywhere();
    t.explore(100);

    posthorn::flow_test year(subscription, customer{"c2", 500});
    for (int month = 0; month < 12; ++month) {
        year.expect_call<collect>().answer();
        year.advance(days{30});
    }
    std::printf("%d months are a year\n", year.result());

    run_on_nodes();
}
