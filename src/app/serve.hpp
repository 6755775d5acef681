#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "app/config.hpp"

namespace posthorn {

struct serve_options {
    /// Told one line for each listener once it listens.
    std::function<void(const std::string& line)> announce;
    /// How long requests in flight may take after SIGINT or SIGTERM; a second signal cuts it short.
    std::chrono::milliseconds drain_timeout = std::chrono::seconds(10);
};

/// Runs a node until SIGINT or SIGTERM, then stops it cleanly. Blocks the calling thread.
///
/// Fails with `address_unavailable` if it cannot listen; then nothing was announced.
[[nodiscard]] result<> serve(const config& settings, const serve_options& options);

}  // namespace posthorn
