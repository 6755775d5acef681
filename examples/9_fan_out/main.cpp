// Many calls at once: all are made in one commit, and their answers come in any order. The test kit
// plays them in memory; then nodes run them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/flow_test.hpp>
#include <posthorn/posthorn.hpp>
#include <posthorn/workflow.hpp>

using namespace std::chrono_literals;

struct parcel {
    std::string id;
};
struct label {
    std::string number;
    std::int64_t cents;
};
struct ship {
    using contract = posthorn::as_command<"Ship", label>;
    std::string parcel_id;
};
using carrier = posthorn::service<"carrier", 1, ship>;

// [all]
posthorn::workflow<std::int64_t> ship_all(posthorn::flow<>& f, std::vector<parcel> parcels) {
    std::vector<posthorn::pending<label>> labels;
    for (const auto& p : parcels) labels.push_back(f.call<carrier>(ship{p.id}));
    std::int64_t cents = 0;
    for (const auto& l : co_await f.all(std::move(labels))) cents += l.cents;
    co_return cents;
}
POSTHORN_WORKFLOW(ship_all, "ShipAll", 1)
// [/all]

struct offer {
    std::int64_t cents;
};
struct ask {
    using contract = posthorn::as_command<"Ask", offer>;
    std::string bank;
};
using market = posthorn::service<"market", 1, ask>;

// [some]
posthorn::workflow<std::int64_t> best_of_two(posthorn::flow<>& f, std::vector<std::string> banks) {
    std::vector<posthorn::pending<offer>> offers;
    for (const auto& bank : banks) offers.push_back(f.call<market>(ask{bank}));
    std::int64_t best = 0;
    for (const auto& o : co_await f.some(2, std::move(offers))) best = std::max(best, o.cents);
    co_return best;
}
POSTHORN_WORKFLOW(best_of_two, "BestOfTwo", 1)
// [/some]

// The services that they call.
struct depot {
    label handle(posthorn::context&, const ship& m) { return {"l-" + m.parcel_id, 100}; }
};
struct exchange {
    offer handle(posthorn::context&, const ask& m) {
        if (m.bank == "south") throw posthorn::permanent("closed today");
        return {m.bank == "north" ? 90 : 70};
    }
};

static void run_on_nodes() {
    const auto directory = std::filesystem::temp_directory_path() / "posthorn-example-9";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const auto options = [&](const std::string& service) {
        return posthorn::node_options{.service = service,
                                      .store = {.database = directory / (service + ".db")},
                                      .default_route = "inprocess:",
                                      .log_sink = [](std::string_view) {}};  // We print enough.
    };
    posthorn::node haulier(options("carrier"));
    posthorn::node banks(options("market"));
    posthorn::node shop(options("shop"));
    depot labels;
    exchange offers;
    posthorn::offer<carrier> offered(haulier, labels);
    posthorn::offer<market> also_offered(banks, offers);
    haulier.start();
    banks.start();
    shop.add(ship_all);
    shop.add(best_of_two);
    shop.start();
    shop.transact([](posthorn::transaction& tx) {
        std::vector<parcel> parcels;
        for (int i = 1; i <= 100; ++i) parcels.push_back({"p" + std::to_string(i)});
        tx.start(ship_all, "s1", parcels);
        tx.start(best_of_two, "b1", std::vector<std::string>{"north", "south", "west"});
    });
    std::printf("100 parcels for %s cents\n",
                shop.wait_for_end(ship_all, "s1", 30s).result.c_str());
    std::printf("the best of two is %s\n",
                shop.wait_for_end(best_of_two, "b1", 30s).result.c_str());
}

int main() {
    posthorn::flow_test t(ship_all, {{"p1"}, {"p2"}, {"p3"}});
    auto first = t.expect_call<ship>();
    auto second = t.expect_call<ship>();
    auto third = t.expect_call<ship>();
    third.answer({"l3", 300});
    first.answer({"l1", 100});
    second.answer({"l2", 200});
    t.crash_everywhere();
    t.explore(100, [&] {
        if (t.result() != 600) throw posthorn::flow_test_failed("a label was counted twice");
    });
    std::printf("3 parcels for %lld cents\n", static_cast<long long>(t.result()));

    posthorn::flow_test banks(best_of_two, {"north", "south", "west"});
    auto north = banks.expect_call<ask>();
    banks.expect_call<ask>().refuse("closed today");
    banks.expect_call<ask>().answer({70});
    north.answer({90});
    banks.crash_everywhere();
    std::printf("the best of two offers is %lld\n", static_cast<long long>(banks.result()));

    run_on_nodes();
}
