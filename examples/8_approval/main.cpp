// A workflow with a time limit, and with calls that are taken back if it ends badly. The test kit
// plays it in memory: nothing here needs a node.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <posthorn/flow_test.hpp>
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
}
