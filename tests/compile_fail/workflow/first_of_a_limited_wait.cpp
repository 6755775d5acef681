// expect: posthorn: first and all take what call, wait, sleep and the like give, as it is: give
// .within as a sleep of its own only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

struct charge {
    using contract = posthorn::as_command<"Charge">;
    std::string id;
};
struct reserve {
    using contract = posthorn::as_command<"Reserve">;
    std::string id;
};
struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string id;
    bool approved;
};
using billing = posthorn::service<"billing", 1, charge>;
using stock = posthorn::service<"stock", 1, reserve>;
posthorn::workflow<void> code(posthorn::flow<>& f) {
    co_await f.first(f.wait<decided>().within(std::chrono::hours(1)));
}
