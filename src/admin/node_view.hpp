#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "admin/key_report.hpp"
#include "admin/store_report.hpp"
#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/time/clock.hpp"
#include "feature/prometheus_text.hpp"
#include "inbox/configured/refused_calls.hpp"
#include "inbox/inbox.hpp"
#include "operations/health.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "store/sqlite/upkeep/backup_keeper.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What the endpoints are made over; a node fills it. All that it refers to outlives the routes.
struct node_view_deps {
    std::string service;
    std::string version;
    /// The node's own database first, then that of the inbox where it has one of its own. Messages
    /// are sent from both, and the last one has the inbox.
    std::vector<store*> stores;
    executor& readers;  // Where the stores are asked, which blocks.
    const clock& time;
    /// One for each store.
    std::vector<const outbox_counters*> counters{};
    /// Null before the node has started. From any thread.
    std::function<const class inbox*()> inbox{};
    /// Why the node cannot work, such as a handler that is stuck; a failed store need not be
    /// named. From any thread.
    std::function<std::vector<std::string>()> broken{};
    /// What a person should see to though it works, such as the disk. From any thread.
    std::function<std::vector<health_worry>()> worries{};
    /// Of each database that is backed up. From any thread.
    std::function<std::vector<sqlite::backup_state>()> backups{};
    /// A message was made pending again: look for it.
    std::function<void()> wake{};
    /// Tries a destination at once. Empty where no node runs.
    std::function<void(std::string_view destination)> try_now{};
    std::function<std::uint64_t()> bad_signatures{};
    /// What web services said when they did not take a message; null where none are called.
    const refused_calls* refused = nullptr;
    /// How the databases are kept. Reads them, so on `readers`. Empty where no node runs.
    std::function<store_report()> store_report{};
    /// Empty where no node runs. From any thread.
    std::function<key_report()> keys{};
    /// Those of features, after ours. From any thread.
    std::vector<std::function<void(prometheus_text&)>> metrics{};
    /// False where the store is in memory, so that it is said wherever one looks.
    bool durable = true;
    /// There is a database but no node: sent messages are counted too, and nothing of the inbox is.
    bool of_file = false;
};

/// What a node knows of itself, looked up at most once a second however often it is asked:
/// strangers may ask for health.
///
/// Lifetime: outlives the routes; shared by those of both listeners.
/// Threads:  any.
class node_view {
public:
    struct state {
        health_facts facts;
        bool store_read = true;
        steady_time at{};
    };

    explicit node_view(node_view_deps parts) : parts_(std::move(parts)) {}

    [[nodiscard]] const node_view_deps& parts() const noexcept { return parts_; }
    /// Not older than a second, unless another look is under way.
    task<std::shared_ptr<const state>> look();
    /// What the lanes of all dispatchers said last.
    [[nodiscard]] std::vector<lane_state> lanes() const;

private:
    [[nodiscard]] std::shared_ptr<const state> recent();
    [[nodiscard]] state read() const;

    node_view_deps parts_;
    std::mutex mutex_;
    std::shared_ptr<const state> last_;
    bool looking_ = false;
};

}  // namespace posthorn
