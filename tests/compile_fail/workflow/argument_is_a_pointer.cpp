// expect: posthorn: a workflow takes its arguments by value, since they are stored and read again
// after a restart; take no reference, pointer or const only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f, const char*) {
    co_await f.sleep(std::chrono::seconds(1));
}
