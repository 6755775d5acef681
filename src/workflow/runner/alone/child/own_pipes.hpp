#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workflow/runner/frame.hpp"

namespace posthorn::runner_child {

// Where the engine puts them before this program begins.
inline constexpr int batches_fd = 3;
inline constexpr int binary_fd = 4;
inline constexpr int answers_fd = 5;

struct received_frame {
    runner_frame kind{};
    std::string body{};
};

/// Empty when the engine has closed its end, or says what is no frame.
[[nodiscard]] std::optional<received_frame> receive();
/// False when nothing takes it any more.
[[nodiscard]] bool send(runner_frame kind, std::string_view body);

}  // namespace posthorn::runner_child
