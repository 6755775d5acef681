#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <posthorn/contract.hpp>
#include <posthorn/detail/health.hpp>
#include <posthorn/detail/unique_function.hpp>
#include <posthorn/error.hpp>
#include <posthorn/forward.hpp>
#include <posthorn/message.hpp>
#include <posthorn/node_options.hpp>
#include <posthorn/reply.hpp>
#include <posthorn/service.hpp>
#include <posthorn/transaction.hpp>
#include <posthorn/transport.hpp>
#include <posthorn/webhooks.hpp>

struct pg_conn;
struct sqlite3;

namespace posthorn {

namespace async {
class sent;
}

namespace detail {

/// A connection of the caller's own.
template <class T>
concept database_handle = std::same_as<T, sqlite3> || std::same_as<T, pg_conn>;

}  // namespace detail

/// Shows, once it is durable, that a message sent on the caller's own handle cannot be lost.
struct ticket {
    uuid id;
};

struct node_stats {
    std::int64_t pending = 0;
    std::int64_t sent = 0;
    std::int64_t dead = 0;
    std::int64_t expired = 0;
    std::int64_t resolved = 0;
    std::int64_t received = 0;    // Rows of the inbox.
    std::int64_t duplicates = 0;  // Since the start.
    bool durable = true;          // As in `node_health`.
};

struct workflow_options;
struct workflow_view;

namespace detail {
class workflow_entry;
struct start_rule;
}  // namespace detail

struct external_options {
    std::chrono::milliseconds lease = std::chrono::seconds{60};  // How long one run may take.
};

/// One service's end of Posthorn, on the service's own database.
///
/// Everything here throws `posthorn::error`. When a sending call returns, the message is durable.
/// One that could not be delivered as it is, too large or not the JSON it claims to be, is refused
/// at once: it is looked at before anything is waited for.
///
/// Handlers and other functions are moved, so they may hold what cannot be copied.
///
/// Lifetime: register handlers, `start()`, use, `stop()` or destroy.
/// Threads:  any.
/// Cancel:   `stop()` refuses what is new, lets deliveries in flight end, and joins; twice is safe.
class node {
public:
    explicit node(node_options options);
    /// What a file or a named set of defaults says: `node{posthorn::load("orders.toml")}`.
    explicit node(configuration from);
    ~node();
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    /// `handler(context&, const message&)` takes the messages of an endpoint, in the transaction
    /// that records them: exactly once. What it returns, text or nothing, is the response's
    /// payload.
    template <class Handler>
    void handle(std::string endpoint, Handler handler) {
        using response = std::invoke_result_t<Handler&, context&, const message&>;
        add_handler(std::move(endpoint),
                    [call = std::move(handler)](context& with, const message& received) mutable {
                        if constexpr (std::is_void_v<response>) {
                            call(with, received);
                            return std::string{};
                        } else {
                            return std::string(call(with, received));
                        }
                    });
    }

    /// `handler(const message&)` works outside of the database, on a thread it may block: at least
    /// once. The message's id is its idempotency key.
    template <class Handler>
    void handle_external(std::string endpoint, Handler handler, external_options options = {}) {
        using response = std::invoke_result_t<Handler&, const message&>;
        add_external_handler(
            std::move(endpoint),
            [call = std::move(handler)](const message& received) mutable {
                if constexpr (std::is_void_v<response>) {
                    call(received);
                    return std::string{};
                } else {
                    return std::string(call(received));
                }
            },
            options);
    }

    /// `handler(context&, const T&)` takes a described message, exactly once. It gives the response
    /// that the message names, or nothing. A payload that does not fit is buried by its sender.
    template <class T, class Handler>
    void handle(Handler handler) {
        if constexpr (detail::check_handler<T, Handler, context&, const T&>())
            add_handler(std::string(endpoint_of<T>), detail::transactional<T>(std::move(handler)),
                        true);
    }

    /// `handler(const T&)`, or `handler(const message&, const T&)`, likewise outside of the
    /// database: at least once.
    template <class T, class Handler>
    void handle_external(Handler handler, external_options options = {}) {
        if constexpr (detail::check_external<T, Handler>())
            add_external_handler(std::string(endpoint_of<T>),
                                 detail::external<T>(std::move(handler)), options, true);
    }

    /// `handler(context&, const R&)`, or `handler(context&)` where a Command answers nothing, takes
    /// the Responses to the Commands `T` that this service sends, exactly once, after a crash too.
    template <class T, class Handler>
    void handle_response(Handler handler) {
        if constexpr (detail::check_response_handler<T, Handler>())
            add_response_handler(std::string(endpoint_of<T>),
                                 detail::response_handler<T>(std::move(handler)));
    }

    /// Runs the workflows of this function on the node: `node.add(approve_order)`. One that is open
    /// in the database goes on when the node starts. Defined, like the rest that is said of
    /// workflows here, in <posthorn/workflow.hpp>.
    template <class R, class... Params>
    void add(workflow<R> (*code)(Params...));
    template <class R, class... Params>
    void add(workflow<R> (*code)(Params...), const workflow_options& options);

    /// `hook(transaction&, const dead_letter&)` is told of messages whose retries are spent or that
    /// were refused for good; `on_expired` of those that were not delivered in time. What it writes
    /// and sends commits together with the record that it was told, so it happens once for each. If
    /// it throws, it is told again after a while. Set before `start`; without one nothing is lost:
    /// dead messages wait for a person.
    void on_dead(detail::unique_function<void(transaction&, const dead_letter&)> hook);
    void on_expired(detail::unique_function<void(transaction&, const dead_letter&)> hook);

    /// Takes messages in and sends them out from now on. Twice is safe; after `stop` it is
    /// `error_code::closed`: make a new node.
    void start();
    /// Returns when nothing runs any more. Inside a transaction or a transactional handler, which
    /// it would wait for: `error_code::called_in_transaction`.
    void stop();
    /// Waits for SIGINT or SIGTERM, then stops.
    void wait();

    /// Runs `work(transaction&)` and commits; gives what it gives. If it throws, nothing is stored
    /// and the exception goes on. It may run again, and on PostgreSQL beside others, so it touches
    /// nothing else.
    template <class Work>
    auto transact(Work&& work) -> std::invoke_result_t<Work&, transaction&> {
        using value = std::invoke_result_t<Work&, transaction&>;
        if constexpr (std::is_void_v<value>) {
            run_transaction([&](transaction& tx) { work(tx); });
        } else {
            std::optional<value> given;
            run_transaction([&](transaction& tx) { given.emplace(work(tx)); });
            return *std::move(given);
        }
    }

    /// One message in a transaction of its own.
    uuid send(std::string_view destination, std::string_view endpoint, std::string_view payload,
              send_options options = {}) {
        return store({destination, endpoint, std::string(payload), std::move(options)});
    }

    /// One described message: `node.send("inventory", order_approved{"o1", "desk-3"});`
    template <class T>
        requires(!std::convertible_to<const T&, std::string_view>)
    uuid send(std::string_view destination, const T& payload, send_options options = {}) {
        if constexpr (detail::check_message<T>())
            return store(detail::request_for(destination, payload, std::move(options)));
        else
            return {};
    }

    /// Sends a Command, durably, and gives its eventual response. The answer comes as a
    /// Response, durable too, with the Command's correlation id; it is lost to this call, and not
    /// to `handle_response`, if the process ends before it comes.
    template <class T>
    [[nodiscard]] auto call(std::string_view destination, const T& command,
                            send_options options = {}) {
        if constexpr (detail::check_command<T>())
            return reply<response_of<T>>(
                start_call(detail::request_for(destination, command, std::move(options))),
                endpoint_of<T>);
        else
            return detail::refused_call<T>();
    }

    /// The same as `call`, without waiting for the commit: if that fails, so does the reply.
    template <class T>
    [[nodiscard]] auto call_later(std::string_view destination, const T& command,
                                  send_options options = {}) {
        if constexpr (detail::check_command<T>())
            return reply<response_of<T>>(
                post_call(detail::request_for(destination, command, std::move(options))),
                endpoint_of<T>);
        else
            return detail::refused_call<T>();
    }

    /// One message in the open transaction of the caller's own handle on the same database: a
    /// `sqlite3*` or, where that is on a PostgreSQL server, a `PGconn*`. It is sent if that
    /// commits. Without an open transaction: `error_code::no_transaction`.
    ///
    /// Nothing stays on a `PGconn*`. What the server refuses spoils the transaction, as anything
    /// else would; an id that is there already does not.
    template <detail::database_handle Handle>
    ticket send(Handle* handle, std::string_view destination, std::string_view endpoint,
                std::string_view payload, send_options options = {}) {
        return store_on(handle, {destination, endpoint, std::string(payload), std::move(options)});
    }
    template <detail::database_handle Handle, class T>
        requires(!std::convertible_to<const T&, std::string_view>)
    ticket send(Handle* handle, std::string_view destination, const T& payload,
                send_options options = {}) {
        if constexpr (detail::check_message<T>())
            return store_on(handle, detail::request_for(destination, payload, std::move(options)));
        else
            return {};
    }
    /// An event in the open transaction of the caller's own handle, as `transaction::publish`.
    template <detail::database_handle Handle>
    ticket publish(Handle* handle, std::string_view type, std::string_view payload,
                   publish_options options = {}) {
        return store_on(handle, detail::event_request(type, payload, std::move(options)));
    }
    /// What is said about an event in the name of a user who signed in: the tenant and the user that
    /// the claims of `webhooks.tenant_claim` and `webhooks.user_claim` name, unless `more` has them:
    /// `tx.publish("order.paid", body, node.on_behalf_of(claims));`
    [[nodiscard]] publish_options on_behalf_of(const std::vector<claim>& claims,
                                               publish_options more = {}) const;
    /// Subscribers that the program knows, in place of those that it named before, which stay where
    /// one is wrong (`error_code::invalid_argument`).
    void webhook_subscribers(const std::vector<webhook_subscriber>& all);
    /// Where the secrets of tenants are found, in place of `webhooks.tenant_secrets`. Set before
    /// `start`.
    void webhook_secrets(webhook_secret_function find);
    /// Returns when the ticket's message is on disk. `error_code::not_committed` if its transaction
    /// was rolled back or is still open.
    void durable(const ticket& of);

    /// The same as `transact`, without waiting: `done` gets the exception, or null once the commit
    /// is on disk. It runs on one of Posthorn's few worker threads, so it may wait, but not for
    /// long. On PostgreSQL several run at a time, and may end in another order.
    void transact_then(detail::unique_function<void(transaction&)> work,
                       detail::unique_function<void(std::exception_ptr)> done);
    /// The same as `send`, likewise; it gets the message's id, too. They are stored in the order of
    /// the calls. What is wrong with the message is thrown, and `done` is not called.
    void send_then(std::string_view destination, std::string_view endpoint, std::string payload,
                   send_options options,
                   detail::unique_function<void(uuid, std::exception_ptr)> done) {
        store_then(make({destination, endpoint, std::move(payload), std::move(options)}),
                   std::move(done));
    }

    /// Sends a dead message again, under its id, with all its retries. False if it is not dead.
    /// Past its time: `error_code::message_expired`, since its receiver may have forgotten it.
    bool requeue(const uuid& id);

    /// Sends nothing to a destination until `resume`, whatever node has the file; its messages
    /// wait, and expire in their time. The reason is shown to people. False if it was paused
    /// already.
    bool pause(std::string_view destination, std::string_view reason = {});
    /// False if it was not paused.
    bool resume(std::string_view destination);

    /// `handler(const forward_message&)` brings the work of a category to its target, on a thread it
    /// may block: at least once. True: it is there. False: it is refused for good. What it throws
    /// says that it may be tried again; `unreachable` and `throttled` are not charged. Set before
    /// `start`; work of a category without one waits, and health says so.
    void forward_handler(std::string category,
                         detail::unique_function<bool(const forward_message&)> handler,
                         forward_category how = {});
    /// `observer(transaction&, const forward_attempt&)` is told of every attempt of tracked work, in
    /// the transaction that records what came of it, so what it writes and sends happens once for
    /// each. If it throws, what it wrote is undone, the attempt counts all the same, and the failure
    /// is counted. Set before `start`.
    void on_forward_attempt(
        detail::unique_function<void(transaction&, const forward_attempt&)> observer);
    /// `told(const forward_activity&)` hears what happens to work that this node holds, after it was
    /// committed. It must not wait, nor throw. Set before `start`.
    void on_forward_activity(detail::unique_function<void(const forward_activity&)> told);
    /// Stores work for a target, durably, then tries it once: gives what came of that, or that it is
    /// held until the target takes it.
    forwarded forward(std::string_view category, std::string_view target, std::string_view payload,
                      forward_options options = {});
    /// Where a tracked operation stands. The id may be written with hyphens or without.
    [[nodiscard]] std::optional<tracked_operation> tracking(std::string_view id) const;

    /// Tells a signal to the workflows that wait for it, or to one alone; durable when it returns.
    /// They are started with `transaction::start`.
    template <class T>
    void signal(const T& said);
    template <class R, class... Params, class T>
    void signal(workflow<R> (*code)(Params...), std::string_view id, const T& said);
    /// Lets every `co_await` of a workflow throw `cancelled`. False if none of that id is open.
    template <class R, class... Params>
    bool cancel(workflow<R> (*code)(Params...), std::string_view id, std::string_view reason = {});
    /// The state of a workflow after its last step; no code of it runs. Empty if there is none.
    template <class State, class R, class... Params>
    [[nodiscard]] std::optional<State> state(workflow<R> (*code)(Params...),
                                             std::string_view id) const;
    /// Where a workflow stands. Empty if there is none of that id.
    template <class R, class... Params>
    [[nodiscard]] std::optional<workflow_view> find(workflow<R> (*code)(Params...),
                                                    std::string_view id) const;
    /// Waits until a workflow that this node runs has ended, or is quarantined.
    /// `error_code::timed_out` if that takes longer, `not_found` if there is none of that id.
    template <class R, class... Params>
    workflow_view wait_for_end(workflow<R> (*code)(Params...), std::string_view id,
                               std::chrono::milliseconds within);

    /// Where it listens once it has started, such as `http://127.0.0.1:7400`, with the real port
    /// where any was asked for.
    [[nodiscard]] std::vector<std::string> addresses() const;
    /// The file of its database, for handles of your own; that of a store in memory too.
    [[nodiscard]] std::string database_file() const;
    [[nodiscard]] node_health health() const;
    [[nodiscard]] node_stats stats() const;
    /// Looks at every page of the database; throws `error_code::store_corrupt` with what it found.
    void check_integrity();

private:
    using transactional = detail::unique_function<std::string(context&, const message&)>;
    using external = detail::unique_function<std::string(const message&)>;

    void add_handler(std::string endpoint, transactional handler, bool is_typed = false);
    void add_external_handler(std::string endpoint, external handler, external_options options,
                              bool is_typed = false);
    void add_response_handler(std::string endpoint, transactional handler);
    /// A message that is fit to be stored.
    [[nodiscard]] message make(detail::send_request asked) const;
    uuid store(detail::send_request asked);
    void store_then(message made, detail::unique_function<void(uuid, std::exception_ptr)> done);
    ticket store_on(sqlite3* handle, detail::send_request asked);
    ticket store_on(pg_conn* handle, detail::send_request asked);
    std::shared_ptr<detail::reply_state> start_call(detail::send_request asked);
    std::shared_ptr<detail::reply_state> post_call(detail::send_request asked);
    /// Gives the number under which the service's handlers are added.
    std::size_t declare_offer(const detail::service_info& offered);
    void add_service_handler(std::size_t service, std::size_t position, transactional handler);
    void add_external_service_handler(std::size_t service, std::size_t position, external handler,
                                      external_options options);
    void declare_use(detail::service_use use);
    void run_transaction(const std::function<void(transaction&)>& work);
    void add_workflow(const detail::workflow_entry& code, const detail::start_rule& rule);
    [[nodiscard]] std::optional<workflow_view> find_workflow(std::string_view name,
                                                             std::string_view id) const;
    workflow_view await_workflow(std::string_view name, std::string_view id,
                                 std::chrono::milliseconds within);

    template <class Service>
    friend class offer;
    template <class Service>
    friend class proxy;
    friend class async::sent;

    class parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace posthorn
