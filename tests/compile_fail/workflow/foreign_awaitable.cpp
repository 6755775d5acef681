// expect: posthorn: a workflow waits only for what its flow gives, which is recorded; anything
// else would not come again after a restart only: clang++-19
#include <chrono>
#include <coroutine>
#include <string>

#include <posthorn/workflow.hpp>
posthorn::workflow<void> code(posthorn::flow<>&) { co_await std::suspend_always{}; }
