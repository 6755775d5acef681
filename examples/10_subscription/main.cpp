// A state machine over signals and time: whatever comes first decides what is done next.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <variant>

#include <posthorn/flow_test.hpp>
#include <posthorn/workflow.hpp>

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
}
