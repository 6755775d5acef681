#pragma once

#include <memory>
#include <optional>

#include "app/config/core_options.hpp"
#include "app/node/database_health.hpp"
#include "app/node/disk_watch.hpp"
#include "app/node/watchdog.hpp"
#include "app/store/open_store.hpp"
#include "base/async/task_group.hpp"
#include "base/run/node_service.hpp"
#include "lease/shared_job.hpp"
#include "outbox/dispatch/dispatcher.hpp"

namespace posthorn {

/// One database of a node with what runs on it: its store, its dispatcher, and what watches them.
///
/// A node has one, or two where the inbox has a file of its own. What a handler sends then goes
/// from the inbox's file, so that it still commits together with the record of its message.
///
/// Lifetime: `open`, `start` once, destroy after the services have ended. What it is given outlives
///           it.
/// Threads:  `start` on the network executor; the rest from any.
/// Cancel:   `stop` asks the dispatcher to end; the services are cancelled by their group.
class node_database {
public:
    struct deps {
        const core_options& options;
        const node_seams& seams;
        executor& writer;
        route_table& routes;
        final_row_listener& ended;
        log_shipper* shipper = nullptr;  // Where its log goes to a standby.
    };

    static result<std::unique_ptr<node_database>> open(const sqlite::sqlite_options& file,
                                                       const deps& around);
    ~node_database();
    node_database(const node_database&) = delete;
    node_database& operator=(const node_database&) = delete;

    /// Without an outbox nothing is sent; the store works and is cared for all the same.
    enum class with_outbox : bool { no, yes };
    void start(task_group& services, with_outbox dispatch);
    void stop();

    [[nodiscard]] class store& store() const noexcept { return *store_; }
    [[nodiscard]] class dispatcher& dispatcher() const noexcept { return *dispatcher_; }
    /// Empty if none are made.
    [[nodiscard]] std::optional<sqlite::backup_state> backups() const;
    [[nodiscard]] bool is_stuck() const noexcept { return watchdog_->is_stuck(); }
    [[nodiscard]] database_signs signs() const;

private:
    explicit node_database(const environment& env) : env_(env) {}

    void note_newest();

    const environment& env_;
    std::unique_ptr<class store> store_;
    std::optional<wall_time> newest_at_start_;
    service_list upkeep_;    // Runs whether or not anything is sent.
    service_list dispatch_;  // The dispatcher, and what wakes it.
    class dispatcher* dispatcher_ = nullptr;
    watchdog* watchdog_ = nullptr;
    sqlite::backup_keeper* backups_ = nullptr;  // None unless asked for.
};

}  // namespace posthorn
