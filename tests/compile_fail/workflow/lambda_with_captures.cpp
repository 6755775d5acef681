// expect: posthorn: a workflow is a function, or a static lambda, that takes a
// posthorn::flow<State>& first; a member function or another lambda would look at an object that
// is gone after a restart only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

auto made(int seconds) {
    return [seconds](posthorn::flow<>& f) -> posthorn::workflow<void> {
        co_await f.sleep(std::chrono::seconds(seconds));
    };
}
