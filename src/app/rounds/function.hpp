#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "app/config/config.hpp"

namespace posthorn {

struct function_options {
    std::uint16_t port = 0;  // On loopback; any free one if zero.
    std::size_t batch = 50;  // Messages at a call, at most.
    /// Told one line once it listens.
    std::function<void(const std::string& line)> announce{};
};

/// A custom handler of Azure Functions: each POST, whatever its path, is one round of a node that
/// listens nowhere else, and is answered with what it did. Until SIGINT or SIGTERM. Blocks the
/// calling thread.
[[nodiscard]] result<> serve_function(config settings, const function_options& options);

}  // namespace posthorn
