// expect: posthorn: the versions of a workflow begin with 1 only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f) { co_await f.sleep(std::chrono::seconds(1)); }
POSTHORN_WORKFLOW(code, "Code", 0)
