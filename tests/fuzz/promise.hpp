#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace posthorn::fuzz {

/// Ends the program, and says which promise was broken, unless it holds.
inline void demand(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// What stands before the next `separator`, which is taken off `rest` with it; all of it if there
/// is none.
inline std::string_view take_until(std::string_view& rest, char separator) {
    const auto end = std::min(rest.find(separator), rest.size());
    const auto taken = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return taken;
}

}  // namespace posthorn::fuzz
