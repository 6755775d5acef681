#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/key_report.hpp"
#include "admin/store_report.hpp"
#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
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
    /// Lets an answer come while the store gives none. Null where no node runs: then one waits for it.
    timer* sleeper = nullptr;
};

/// What a node knows of itself, looked up at most once a second however often it is asked:
/// strangers may ask for health.
///
/// A store that gives no answer, since a table is locked or its server is stuck, gives none for as
/// long as that lasts. What was seen last is then told together with how long it is ago.
///
/// Lifetime: outlives the routes; shared by those of both listeners. Its end waits for a look that is
///           under way.
/// Threads:  any.
class node_view {
public:
    struct state {
        health_facts facts;
        bool store_read = true;
        steady_time at{};
    };

    explicit node_view(node_view_deps parts) : parts_(std::move(parts)) {}
    ~node_view();
    node_view(const node_view&) = delete;
    node_view& operator=(const node_view&) = delete;

    [[nodiscard]] const node_view_deps& parts() const noexcept { return parts_; }
    /// Not older than a second, unless a look is under way; then it says so once that takes long.
    task<std::shared_ptr<const state>> look();
    /// What the lanes of all dispatchers said last.
    [[nodiscard]] std::vector<lane_state> lanes() const;

private:
    using known = std::shared_ptr<const state>;
    /// What can be told without waiting, or a turn to wait for.
    struct sight {
        known what{};
        std::shared_ptr<waiter> turn{};
        bool looks = false;  // The caller is to begin.
    };

    [[nodiscard]] sight recent();
    void begin();
    void finish(known seen);
    [[nodiscard]] state read() const;
    [[nodiscard]] known overdue();

    node_view_deps parts_;
    std::mutex mutex_;  // Over all that follows.
    std::condition_variable ended_;
    known last_;
    std::optional<steady_time> looking_since_;
    std::vector<std::shared_ptr<waiter>> waiting_;
};

}  // namespace posthorn
