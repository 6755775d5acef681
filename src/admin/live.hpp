#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admin/admin_surface.hpp"
#include "admin/node_view.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"

namespace posthorn {

struct live_options {
    std::size_t watchers_max = 128;
    std::chrono::milliseconds every = std::chrono::seconds{1};
    /// How long a watcher may take to read a snapshot.
    std::chrono::milliseconds patience = std::chrono::seconds{10};
};

/// What pages that are open watch: how the node is, once a second, as server-sent events. It tells
/// how often the stores were written to as well, so that a page knows when to read again what it shows.
///
/// One snapshot is made for all watchers, and none while there are none. Each watcher has one
/// snapshot on its way at most, so that a slow one misses some and costs no more.
///
/// Lifetime: outlives the server whose connections watch it; `timer`, `node` and its stores outlive
///           it.
/// Threads:  the server's executor, one thread; the counts from any.
/// Cancel:   a watcher ends with its connection, and within a second after its key was revoked.
class live_feed {
public:
    live_feed(node_view& node, timer& time, live_options options = {});
    ~live_feed();
    live_feed(const live_feed&) = delete;
    live_feed& operator=(const live_feed&) = delete;

    /// Watches until the connection ends or `is_let_in` says no. `error_code::store_unavailable`
    /// where as many watch as may.
    [[nodiscard]] result<std::shared_ptr<http_body_source>> watch(std::function<bool()> is_let_in);

    [[nodiscard]] std::size_t watchers() const noexcept { return watchers_; }
    [[nodiscard]] std::uint64_t snapshots() const noexcept { return snapshots_; }
    /// Watchers that did not read.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
    void write_metrics(prometheus_text& text) const;

private:
    class watcher;

    /// Counts what another process wrote, or a handle not ours, as often as that is noticed.
    class foreign_commits final : public commit_listener {
    public:
        void committed(std::span<const outbox_row> /*enqueued*/) override {}
        void foreign_commit() override { ++seen_; }
        [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

    private:
        std::atomic<std::uint64_t> seen_ = 0;
    };

    /// The event that tells how the node is now; made anew if the last one is older than a second.
    task<std::shared_ptr<const std::string>> current();
    task<std::string> make();
    /// Another one after each commit, ours or not.
    [[nodiscard]] std::uint64_t stamp() const;

    node_view& node_;
    timer& time_;
    live_options options_;
    foreign_commits foreign_;
    std::atomic<std::size_t> watchers_ = 0;
    std::atomic<std::uint64_t> snapshots_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::shared_ptr<const std::string> last_;
    steady_time made_at_{};
    bool making_ = false;
    std::vector<std::shared_ptr<waiter>> waiting_;  // For the one that is being made.
};

/// `GET /_rf/live`, for a viewer.
void add_live_route(admin_surface& into, live_feed& feed);

}  // namespace posthorn
