// Workflows that live for years: one that begins another run each month and answers questions
// meanwhile, one with children, and one whose code is changed under those in flight. The test kit
// plays three years of it in memory; then a node runs it.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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
    std::string card;
};
struct change_card {
    using contract = posthorn::as_command<"ChangeCard", card_changed>;
    std::string customer_id, card;
};
using shop_v1 = posthorn::service<"shop", 1, change_card>;
struct collect {
    using contract = posthorn::as_command<"Collect">;
    std::string customer_id, card;
    std::int64_t cents;
};
using payments = posthorn::service<"payments", 1, collect>;

// [entity]
struct plan {
    std::string card = "none";
    int months_paid = 0;
    posthorn::wall_time paid_until{};
};

// For ever: each month is a run of its own, so that what is recorded stays small.
posthorn::workflow<int> membership(posthorn::flow<plan>& f, customer c) {
    if (f.state.months_paid == 0) f.state.paid_until = f.now();
    auto end = f.wait(the<&ended::customer_id> == c.id);
    for (;;) {
        auto next =
            co_await f.first(end, f.receive<shop_v1>(the<&change_card::customer_id> == c.id),
                             f.sleep_until(f.state.paid_until));
        if (next.index() == 0) co_return f.state.months_paid;
        if (next.index() == 2) break;
        const auto& asked = std::get<1>(next);
        if (asked->card.empty()) {
            asked.refuse("a card has a number");
            continue;
        }
        f.state.card = asked->card;
        asked.answer(card_changed{asked->card});
    }
    co_await f.call<payments>(collect{c.id, f.state.card, c.cents});
    ++f.state.months_paid;
    f.state.paid_until += days{30};
    co_await f.again(membership, c);
}
POSTHORN_WORKFLOW(membership, "Membership", 1)
// [/entity]

struct arrived {
    using contract = posthorn::as_signal<"Arrived">;
    std::string parcel_id;
};

// [children]
posthorn::workflow<std::string> deliver(posthorn::flow<>& f, std::string parcel_id) {
    const auto there = co_await f.wait(the<&arrived::parcel_id> == parcel_id).within(days{14});
    if (!there) throw posthorn::failed("it is lost");
    co_return parcel_id;
}
POSTHORN_WORKFLOW(deliver, "Deliver", 1)

posthorn::workflow<std::string> send_out(posthorn::flow<>& f, std::vector<std::string> parcels) {
    std::vector<posthorn::pending_child<std::string>> on_their_way;
    for (const auto& id : parcels) on_their_way.push_back(f.child(deliver, id, id));
    std::string there;
    for (auto& each : on_their_way) {
        const auto end = co_await std::move(each).as_outcome();
        there += (end ? *end : std::string(end.error().what())) + ";";
    }
    co_return there;
}
POSTHORN_WORKFLOW(send_out, "SendOut", 1)
// [/children]

// [versions]
// As it was: those that began with it go on with it.
posthorn::workflow<std::int64_t> invoice_v1(posthorn::flow<>& f, customer c) {
    co_await f.call<payments>(collect{c.id, "none", c.cents});
    co_await f.sleep(days{30});
    co_return c.cents;
}
POSTHORN_WORKFLOW(invoice_v1, "Invoice", 1)

// As it is: new ones take it.
posthorn::workflow<std::int64_t> invoice(posthorn::flow<>& f, customer c) {
    co_await f.call<payments>(collect{c.id, "none", c.cents});
    co_await f.sleep(days{30});
    co_await f.call<payments>(collect{c.id, "none", c.cents / 10});  // What is late costs more.
    co_return c.cents + c.cents / 10;
}
POSTHORN_WORKFLOW(invoice, "Invoice", 2)
// [/versions]

// [patched]
posthorn::workflow<std::int64_t> rent(posthorn::flow<>& f, customer c) {
    const auto cents = f.patched("indexed rents") ? c.cents * 103 / 100 : c.cents;
    co_await f.call<payments>(collect{c.id, "none", cents});
    co_return cents;
}
POSTHORN_WORKFLOW(rent, "Rent", 1)
// [/patched]

// The service that it calls.
struct cashier {
    void handle(posthorn::context& c, const collect& m) {
        c.execute("INSERT INTO collected VALUES (?, ?)", m.customer_id, m.cents);
    }
};

static void play_three_years() {
    posthorn::flow_test t(membership, customer{"c1", 500});
    for (int month = 0; month < 36; ++month) {
        t.expect_call<collect>().answer();
        if (month == 6) {
            const auto asked = t.request<shop_v1>(change_card{"c1", "4000-1"});
            std::printf("the card is %s now\n", asked.response().card.c_str());
            const auto empty = t.request<shop_v1>(change_card{"c1", ""});
            std::printf("refused: %s\n", empty.refusal().c_str());
        }
        t.advance(days{30});
    }
    t.expect_call<collect>().answer();
    t.signal(ended{"c1"});
    std::printf("%d months in %zu runs\n", t.result(), t.run());
}

static void play_parcels() {
    posthorn::flow_test t(send_out, std::vector<std::string>{"p1", "p2"});
    t.expect_child(deliver, "p2").fail("it is lost");
    t.expect_child(deliver, "p1").complete("p1");
    std::printf("%s\n", t.result().c_str());
    t.crash_everywhere();
    t.explore(50);
}

static void play_a_patch() {
    posthorn::flow_test old_one(rent, customer{"c5", 1000});
    old_one.without_patch("indexed rents");
    old_one.expect_call<collect>().answer();
    posthorn::flow_test new_one(rent, customer{"c6", 1000});
    new_one.expect_call<collect>().answer();
    std::printf("rents: %lld of before, %lld now\n", static_cast<long long>(old_one.result()),
                static_cast<long long>(new_one.result()));
}

static void run_on_nodes() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-14";
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
    posthorn::node desk(options("desk"));
    bank.transact([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE collected (customer TEXT, cents INTEGER)");
    });
    cashier till;
    posthorn::offer<payments> offered(bank, till);
    posthorn::proxy<shop_v1> questions(desk);
    bank.start();
    shop.add(membership);
    shop.add(deliver);
    shop.add(send_out);
    shop.add(invoice_v1);  // Both: what is in flight stays with its own.
    shop.add(invoice);
    shop.start();
    desk.start();
    shop.transact([](posthorn::transaction& tx) {
        tx.start(membership, "c3", customer{"c3", 500});
        tx.start(send_out, "s1", std::vector<std::string>{"p3", "p4"});
    });
    const auto card = questions.call(change_card{"c3", "4000-3"}).get(30s);
    std::printf("c3 pays with %s\n", card.card.c_str());
    shop.signal(arrived{"p3"});
    shop.signal(arrived{"p4"});
    std::printf("s1: %s\n", shop.wait_for_end(send_out, "s1", 30s).result.c_str());
    shop.signal(ended{"c3"});
    const auto end = shop.wait_for_end(membership, "c3", 30s);
    std::printf("c3 has ended after %lld runs\n", static_cast<long long>(end.run));
}

int main() {
    play_three_years();
    play_parcels();
    play_a_patch();
    run_on_nodes();
}
