#include "cost/sqlite_steps.hpp"

#include <atomic>

#include <sqlite3.h>

namespace posthorn::cost {
namespace {

std::atomic<std::int64_t> steps = 0;

int count_steps(unsigned /*what*/, void* /*none*/, void* which, void* /*time*/) {
    auto* const ended = static_cast<sqlite3_stmt*>(which);
    steps += sqlite3_stmt_status(ended, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

int watch(sqlite3* opened, const char** /*why*/, const sqlite3_api_routines* /*api*/) {
    return sqlite3_trace_v2(opened, SQLITE_TRACE_PROFILE, count_steps, nullptr);
}

}  // namespace

void watch_steps() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch)); }

std::int64_t steps_taken() { return steps; }

}  // namespace posthorn::cost
