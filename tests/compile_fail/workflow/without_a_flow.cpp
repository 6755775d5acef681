// expect: posthorn: a workflow is a function, or a static lambda, that takes a
// posthorn::flow<State>& first; a member function or another lambda would look at an object that
// is gone after a restart only: clang++-19
#include <chrono>
#include <string>

#include <posthorn/workflow.hpp>

posthorn::workflow<int> code(std::string id) { co_return static_cast<int>(id.size()); }
