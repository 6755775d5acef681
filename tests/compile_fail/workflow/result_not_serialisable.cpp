// expect: posthorn: what this workflow gives cannot be serialised; give nothing, or a described
// type only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<const char*> code(posthorn::flow<>&) { co_return "text"; }
