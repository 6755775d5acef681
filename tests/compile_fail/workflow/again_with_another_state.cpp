// expect: posthorn: the next run keeps the state; give again a workflow with the same one
// only: clang++-19
#include <posthorn/workflow.hpp>

struct seats {
    int taken = 0;
};
posthorn::workflow<void> other(posthorn::flow<seats>& f) { co_await f.again(other); }
posthorn::workflow<void> code(posthorn::flow<>& f) { co_await f.again(other); }
