// Workflows that are deployed as a binary, some of which behave badly.
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include <posthorn/workflow.hpp>

namespace {

using namespace posthorn;

struct receipt {
    std::string number;
};
struct charge {
    using contract = as_command<"Charge", receipt>;
    std::string order_id;
    std::int64_t cents = 0;
};
struct refund {
    using contract = as_command<"Refund">;
    std::string order_id;
};
using billing = service<"billing", 1, charge, refund>;
struct decided {
    using contract = as_signal<"Decided">;
    std::string order_id;
    std::string by;
};
struct phase {
    std::string now = "new";
};

workflow<receipt> approve(flow<phase>& f, std::string order) {
    const auto paid = co_await f.call<billing>(charge{order, 5}).undo(refund{order});
    f.state.now = "waiting";
    const auto answer =
        co_await f.wait(the<&decided::order_id> == order).within(std::chrono::hours{72});
    if (!answer) throw failed("nothing was decided in three days");
    f.state.now = "by " + answer->by;
    co_return paid;
}
POSTHORN_WORKFLOW(approve, "Approve", 1)

// What it is told decides how it falls.
workflow<void> misbehave(flow<>& f, std::string how) {
    if (how == "crash") __builtin_trap();
    if (how == "spin")
        for (volatile bool is_on = true; is_on;) {
        }
    if (how == "memory") {
        std::vector<std::string> all;
        for (;;) all.emplace_back(1U << 20U, 'x');
    }
    co_await f.sleep(std::chrono::hours{1});
}
POSTHORN_WORKFLOW(misbehave, "Misbehave", 1)

}  // namespace
