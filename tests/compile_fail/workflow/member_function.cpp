// expect: posthorn: a workflow is a function, or a static lambda, that takes a
// posthorn::flow<State>& first; a member function or another lambda would look at an object that
// is gone after a restart only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

struct shop {
    posthorn::workflow<void> code(posthorn::flow<>& f) {
        co_await f.sleep(std::chrono::seconds(1));
    }
};
