#pragma once

#include <functional>
#include <string>

#include "app/config/config.hpp"
#include "app/node/own_report.hpp"

namespace posthorn {

struct serve_options {
    /// Told one line for each listener once it listens.
    std::function<void(const std::string& line)> announce;
    /// Reads the configuration again, as it was given at first, on SIGHUP. May block.
    std::function<result<config>()> read_again;
    /// What is weak about the set-up, for those who look at the running node.
    own_findings findings{};
};

/// Runs a node until SIGINT or SIGTERM, then stops it cleanly, within `outbox.drain_timeout`; a
/// second signal cuts that short. SIGHUP reloads. Tells a service manager that named its socket in
/// `NOTIFY_SOCKET`. Blocks the calling thread.
///
/// If it cannot start, nothing was announced.
[[nodiscard]] result<> serve(const config& settings, const serve_options& options);

}  // namespace posthorn
