#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/time/clock.hpp"
#include "workflow/runner/runner_link.hpp"

namespace posthorn {

struct runner_options {
    std::string program{};  // The path of posthorn-runner.
    std::uint64_t memory_bytes_max = 512UL << 20U;
    std::chrono::milliseconds ready_within{5'000};  // With the binary's constructors.
};

/// Starts a runner with this binary, and waits until it is ready: its bytes go into a file in memory
/// that is sealed, so that what was inspected is what runs.
///
/// The runner ends with the thread that started it, if not before: start it on one that lives as long
/// as the engine. It gets no environment, no signal and no file of this process but its own three.
[[nodiscard]] result<std::unique_ptr<runner_link>> start_runner(std::span<const std::byte> elf,
                                                                const runner_options& options,
                                                                const clock& time);

}  // namespace posthorn
