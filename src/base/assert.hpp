#pragma once

#include <source_location>

namespace posthorn {

/// Prints what was violated and where, then aborts: going on could lose or double a message.
[[noreturn]] void assertion_failed(
    const char* condition, std::source_location where = std::source_location::current()) noexcept;

}  // namespace posthorn

/// Holds in every build. For what can only be false through a bug of ours, never for bad input.
#define POSTHORN_ASSERT(condition) \
    (static_cast<bool>(condition) ? void(0) : ::posthorn::assertion_failed(#condition))
