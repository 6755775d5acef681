#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "app/node/node_core.hpp"
#include "base/async/io_threads.hpp"

namespace posthorn::crash {

/// A node over real seams with every option open, its lease times among them, and with a hub of its
/// own, so that what it sends goes through whatever the worker puts there.
///
/// Lifetime: construct, add handlers, `start`, destroy.
/// Threads:  one.
class core_node {
public:
    core_node(core_options options, std::function<void(std::string_view line)> sink);
    ~core_node();
    core_node(const core_node&) = delete;
    core_node& operator=(const core_node&) = delete;

    void start();
    [[nodiscard]] node_core& core() noexcept { return *core_; }
    [[nodiscard]] inprocess_hub& hub() noexcept { return hub_; }
    [[nodiscard]] class timer& timer() noexcept { return timer_; }
    /// What the first column of the first row says, as committed.
    [[nodiscard]] std::int64_t integer(std::string_view sql);

private:
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    logger log_;
    inprocess_hub hub_;
    worker_threads writer_{"write"};
    worker_threads readers_{"read", 2};
    worker_threads workers_{"work", 4};
    io_threads network_{"io"};
    std::unique_ptr<node_core> core_;
};

}  // namespace posthorn::crash
