// expect: posthorn: co_await it, or keep it: what is waited for ends with its handle only:
// clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f) {
    f.sleep(std::chrono::seconds(1));
    co_return;
}
