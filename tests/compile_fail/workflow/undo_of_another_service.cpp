// expect: posthorn: this service does not have that message; add it to the service<…>, or send it
// to another one only: clang++-19
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
    co_await f.call<billing>(charge{"o1"}).undo(reserve{"o1"});
}
