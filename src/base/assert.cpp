#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace posthorn {

void assertion_failed(const char* condition, std::source_location where) noexcept {
    // Not through the logger: it allocates, and the failure may be its own.
    std::fprintf(stderr, "posthorn: assertion failed: %s\n  at %s:%u in %s\n", condition,
                 where.file_name(), where.line(), where.function_name());
    std::fflush(stderr);
    std::abort();
}

}  // namespace posthorn
