#pragma once

#include <cstdint>

namespace posthorn::bench {

/// How often this process has synced a file.
[[nodiscard]] std::uint64_t syncs_so_far() noexcept;

}  // namespace posthorn::bench
