#pragma once

#include <exception>
#include <functional>
#include <memory>

#include <posthorn/node.hpp>

#include "app/config/core_options.hpp"
#include "app/node/node_database.hpp"
#include "app/node/node_hooks.hpp"
#include "app/node/replies.hpp"
#include "base/async/task_group.hpp"
#include "base/uuid_generator.hpp"
#include "feature/node_builder.hpp"
#include "feature/store_builder.hpp"
#include "inbox/inbox.hpp"
#include "operations/lanes.hpp"

namespace posthorn {

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
    /// Before it starts: what is done about messages that were given up.
    [[nodiscard]] node_hooks& hooks() noexcept { return hooks_; }
    /// A service that must be reachable when the node starts.
    result<> declare_use(detail::service_use use);
    /// Sends a Command and gives its eventual response.
    result<std::shared_ptr<detail::reply_state>> call(detail::send_request asked);
    /// The same, without waiting for the commit: if that fails, so does the reply.
    result<std::shared_ptr<detail::reply_state>> post_call(detail::send_request asked);
    task<result<>> start();
    task<> stop();
    /// From the next batch on. If one cannot be used, the old ones stay. On the network executor.
    result<> replace_routes(core_routes routes, std::optional<core_route> default_route);

    using work_type = detail::unique_function<void(transaction&)>;
    using done_type = detail::unique_function<void(std::exception_ptr)>;
    using sent_type = detail::unique_function<void(uuid, std::exception_ptr)>;

    /// Runs `work` in a transaction; `done` gets the exception, or null once it is on disk. It runs
    /// on a worker's thread: on the writer's it could make all others wait, and wait for itself.
    void submit_then(work_type work, done_type done);
    /// The same, waiting. `error_code::called_in_transaction` where that would wait for itself.
    void run(const std::function<void(transaction&)>& work);

    /// A message that is fit to be stored. Takes no lock and waits for nothing.
    [[nodiscard]] result<message> make_message(detail::send_request asked) const {
        return maker_.make(std::move(asked));
    }
    /// Stores it, in a commit that it may share with others.
    result<uuid> store_message(message made);
    /// The same without waiting. `done` runs on a worker's thread.
    void store_message_then(message made, sent_type done);
    result<> durable(const uuid& id);
    result<bool> requeue(const uuid& id);
    /// Pauses a destination, or lets it go on; says whether that changed anything.
    result<bool> change_pause(pause_change wanted);
    /// Tries a destination at once that does not answer or rests. On the network's strand.
    void try_now(std::string_view destination);
    /// The same with all that do not answer, after something was changed that may have been why. On
    /// the network's strand.
    void try_silent();

    /// What `transaction` and `send` write to.
    [[nodiscard]] class store& store() const noexcept { return database_->store(); }
    /// What handlers write to: the same, unless the inbox has a file of its own.
    [[nodiscard]] class store& inbox_store() const noexcept {
        return inbox_database_ ? inbox_database_->store() : store();
    }
    void stop_stores();
    result<> check_integrity();
    /// Null before it has started, and where the node has none.
    [[nodiscard]] class inbox* inbox() noexcept { return inbox_.get(); }
    [[nodiscard]] bool is_durable() const noexcept { return options_.durable; }
    [[nodiscard]] class dispatcher& dispatcher() const noexcept { return database_->dispatcher(); }
    /// What the features have added.
    [[nodiscard]] const feature_parts& features() const noexcept { return features_; }
    /// Of each database.
    /// One, or two where the inbox has a database of its own; the node's own first.
    [[nodiscard]] std::vector<node_database*> databases() const;
    [[nodiscard]] std::vector<const outbox_counters*> counters() const;
    /// Of each database, if any are made.
    [[nodiscard]] std::vector<sqlite::backup_state> backups() const;
    void wake();
    /// Ends what handlers wait for outside of this process; `stop` then need not wait for them.
    void cut_off() {
        if (inbox_) inbox_->cut_off();
    }
    [[nodiscard]] node_health health() const;
    /// Why nothing can commit any more, so that only a restart helps; empty while it can.
    [[nodiscard]] std::vector<std::string> broken() const;
    /// The same, and why nothing could be written lately, which may mend itself.
    [[nodiscard]] std::vector<std::string> not_working() const;
    /// What health says beyond that, with its colour.
    [[nodiscard]] std::vector<health_worry> worries() const;
    /// One more to ask, before the node is asked for the first time; it outlives the questions.
    void ask_for_health(std::function<std::vector<health_worry>()> told) {
        features_.health.push_back(std::move(told));
    }
    [[nodiscard]] result<node_stats> stats();

private:
    class routes;

    node_core(core_options options, node_seams seams);
    result<bool> requeue_in(class store& where, const uuid& id);
    result<> prepare_store();
    result<> install_features();
    result<> start_inbox();
    /// What is known of a Response before its Command is sent.
    struct expected_call {
        message command;
        std::shared_ptr<detail::reply_state> reply;
    };
    result<expected_call> expect_response(detail::send_request asked);
    transactional_handler reply_handler();
    void watch_limit(reply_limit limit);

    core_options options_;
    node_seams seams_;
    uuid_generator ids_;
    message_maker maker_;
    handlers handlers_;
    std::vector<detail::service_use> uses_;
    std::shared_ptr<replies> replies_;
    node_hooks hooks_{maker_, *replies_};
    std::unique_ptr<routes> routes_;
    store_parts before_store_;
    std::unique_ptr<node_database> database_;
    std::unique_ptr<node_database> inbox_database_;
    feature_parts features_;
    std::unique_ptr<class inbox> inbox_;
    std::unique_ptr<shared_job> inbox_job_;  // Where several nodes share the database.
    task_group services_;
    bool started_ = false;
};

}  // namespace posthorn
