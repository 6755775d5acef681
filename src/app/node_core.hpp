#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <posthorn/node.hpp>

#include "app/replies.hpp"
#include "app/watchdog.hpp"
#include "base/clock.hpp"
#include "base/executor.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/task_group.hpp"
#include "base/timer.hpp"
#include "base/uuid_generator.hpp"
#include "inbox/inbox.hpp"
#include "outbox/dispatcher.hpp"
#include "store/message_maker.hpp"
#include "store/sqlite/commit_watcher.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "transport/inprocess/hub.hpp"

namespace posthorn {

/// What a node is built from; real in a service, virtual in the simulator. All of it outlives it.
struct node_seams {
    class clock& clock;
    class timer& timer;
    random_source& random;
    boost::asio::any_io_executor network;  // One thread, or a strand.
    executor& writer;
    executor& readers;
    executor& workers;
    logger& log;
    inprocess_hub& hub;
};

struct core_options {
    sqlite::sqlite_options database;
    message_defaults sending;
    outbox_options outbox{};
    retry_policy retries{};
    inbox_options inbox{};
    watchdog_options watchdog{};
    std::map<std::string, std::string, std::less<>> routes{};
    std::string default_route{};
    bool watch_commits = true;
    std::function<bool(const std::string& owner)> owner_is_gone{};
    std::function<void(const std::string& why)> fail_stop{};
};

/// A whole node over its seams: the store, the dispatcher, the inbox, and what watches them.
///
/// Lifetime: `open`, add handlers, `start`, `stop`, destroy.
/// Threads:  `start` and `stop` run on the network executor; the rest from any.
/// Cancel:   `stop` leaves the hub, ends the services, then commits what the store still has. Twice
///           is safe.
class node_core {
public:
    static result<std::unique_ptr<node_core>> open(core_options options, node_seams seams);
    ~node_core();
    node_core(const node_core&) = delete;
    node_core& operator=(const node_core&) = delete;

    [[nodiscard]] handlers& registry() noexcept { return handlers_; }
    /// A service that must be reachable when the node starts.
    result<> declare_use(detail::service_use use);
    /// Gives what the Response to a Command will be in, once that is sent with the options.
    result<std::shared_ptr<detail::reply_state>> expect_response(std::string_view endpoint,
                                                                 send_options& options);
    void fail_response(std::string_view correlation_id, std::exception_ptr why) {
        replies_->fail(correlation_id, std::move(why));
    }
    task<result<>> start();
    task<> stop();

    /// Runs `work` in a transaction; `done` gets the exception, or null once it is on disk.
    void submit(std::function<void(transaction&)> work,
                std::function<void(std::exception_ptr)> done);
    /// The same, waiting. `error_code::inside_unit` where that would wait for itself.
    void run(const std::function<void(transaction&)>& work);
    [[nodiscard]] result<message> make_message(send_request asked) const {
        return maker_.make(std::move(asked));
    }
    result<> durable(const uuid& id);

    [[nodiscard]] class store& store() noexcept { return *store_; }
    /// Once started.
    [[nodiscard]] class inbox& inbox() noexcept { return *inbox_; }
    [[nodiscard]] class dispatcher& dispatcher() noexcept { return *dispatcher_; }
    [[nodiscard]] node_health health() const;
    [[nodiscard]] result<node_stats> stats();

private:
    class routes;

    node_core(core_options options, node_seams seams);
    transactional_handler reply_handler();

    core_options options_;
    node_seams seams_;
    uuid_generator ids_;
    message_maker maker_;
    handlers handlers_;
    std::vector<detail::service_use> uses_;
    std::shared_ptr<replies> replies_ = std::make_shared<replies>();
    std::unique_ptr<class store> store_;
    std::unique_ptr<routes> routes_;
    std::unique_ptr<class dispatcher> dispatcher_;
    std::unique_ptr<class inbox> inbox_;
    std::unique_ptr<watchdog> watchdog_;
    std::unique_ptr<sqlite::commit_watcher> watcher_;
    task_group services_;
    bool started_ = false;
};

}  // namespace posthorn
