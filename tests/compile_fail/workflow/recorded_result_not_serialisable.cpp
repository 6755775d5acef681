// expect: posthorn: what this function gives is recorded, and it cannot be serialised; give
// nothing, or a described type only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f) {
    co_await f.run([] { return static_cast<const char*>("x"); });
}
