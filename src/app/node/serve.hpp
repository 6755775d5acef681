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
    /// Why the role of the primary was not given away when it was last asked for; empty if it was,
    /// or never was to be.
    std::string switch_trouble{};
};

/// Why a node runs no longer.
enum class serve_end : std::uint8_t {
    stopped,   // By a signal.
    switching  // It is to give the role of the primary to its standby.
};

/// Runs a node until SIGINT or SIGTERM, then stops it cleanly, within `outbox.drain_timeout`; a
/// second signal cuts that short. SIGHUP reloads. Tells a service manager that named its socket in
/// `NOTIFY_SOCKET`. Blocks the calling thread.
///
/// One of a pair that names both places in `[standby]` changes its role when it is told to.
///
/// If it cannot start, nothing was announced.
[[nodiscard]] result<> serve(const config& settings, const serve_options& options);
/// The same, as the primary or without a standby, until that is over.
[[nodiscard]] result<serve_end> serve_once(const config& settings, const serve_options& options);

}  // namespace posthorn
