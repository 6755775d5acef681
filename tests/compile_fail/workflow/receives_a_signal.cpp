// expect: posthorn: a workflow receives Commands, which it answers; a signal is waited for with
// f.wait only: clang++-19
#include <string>

#include <posthorn/workflow.hpp>

struct decided {
    using contract = posthorn::as_signal<"Decided">;
    std::string id;
};
posthorn::workflow<void> code(posthorn::flow<>& f) {
    co_await f.receive(posthorn::the<&decided::id> == "o1");
}
