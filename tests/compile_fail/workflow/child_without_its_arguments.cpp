// expect: posthorn: this workflow is started with another number of arguments only: clang++-19
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<void> ship(posthorn::flow<>& f, std::string to) { co_await f.again(ship, to); }
posthorn::workflow<void> code(posthorn::flow<>& f) { co_await f.child(ship, "s1"); }
