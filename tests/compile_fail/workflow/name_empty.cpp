// expect: posthorn: a workflow needs a name; this one's is empty only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> code(posthorn::flow<>& f) { co_await f.sleep(std::chrono::seconds(1)); }
POSTHORN_WORKFLOW(code, "", 1)
