// expect: posthorn: transact and run need a workflow that is linked into a program; one that is
// deployed as a binary calls a service for what is outside of it
// only: clang++-19
#define POSTHORN_IN_WORKFLOW_BINARY
#include "posthorn/workflow.hpp"  // Not the precompiled one, which is without it.

posthorn::workflow<void> code(posthorn::flow<>& f) {
    co_await f.run([] {});
}
