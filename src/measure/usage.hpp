#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <sys/types.h>

namespace posthorn::measure {

/// What a run has used so far, in all its processes.
struct usage {
    std::int64_t cpu_ns = 0;
    std::int64_t syncs = -1;      // -1 where they cannot be counted.
    std::int64_t memory_kib = 0;  // Of their own, without what they share.
    std::int64_t file_bytes = 0;  // Of SQLite its pages, wherever they lie.
};

/// Those processes and their children; syncs are the caller's to count.
[[nodiscard]] usage usage_of(std::span<const pid_t> processes, const std::filesystem::path& folder);

}  // namespace posthorn::measure
