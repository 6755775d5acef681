#include <csignal>
#include <cstdlib>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <posthorn/node.hpp>

#include "app/config_type.hpp"
#include "app/node_core.hpp"
#include "app/process_identity.hpp"
#include "base/io_threads.hpp"
#include "store/sqlite/foreign_handle.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

// Where the nodes of this process find each other.
inprocess_hub& process_hub() {
    static inprocess_hub hub;
    return hub;
}

log_options log_options_of(const node_options& options) {
    const auto level = config_type<log_level>::read(options.log_level);
    if (!level)
        throw error(
            error_code::invalid_argument,
            "log_level is one of trace, debug, info, warn, error, not '" + options.log_level + "'");
    return {.level = *level, .sink = options.log_sink};
}

core_options core_options_of(const node_options& options) {
    if (options.service.empty() || options.database.empty())
        throw error(error_code::invalid_argument, "give the node a service name and a database");
    const auto& retry = options.retry;
    core_options core{
        .database = {.path = options.database,
                     .service = options.service,
                     .sync = options.synchronous_full ? sqlite::synchronous::full
                                                      : sqlite::synchronous::normal,
                     .shared = options.shared},
        .sending = {.source = options.service,
                    .expires_in = options.message_ttl,
                    .max_retries = retry.retries_max},
        .retries = retry_policy(exponential_backoff{
            .base = retry.delay_base, .max = retry.delay_max, .jitter_max = retry.jitter_max}),
        .routes = options.routes,
        .default_route = options.default_route,
        .owner_is_gone = [](const std::string& owner) { return process_is_gone(owner); },
        .fail_stop =
            [told = options.on_fail_stop](const std::string& why) {
                if (told) told(why);
                std::abort();
            },
    };
    core.outbox.lease.owner = process_identity(options.service);
    if (!options.inbox_database.empty()) {
        core.inbox_database = core.database;
        core.inbox_database->path = options.inbox_database;
    }
    return core;
}

task<> wait_for_signal() {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace

/// The real seams, in the order of their making, and the node over them.
class node::parts {
public:
    explicit parts(const node_options& options)
        : log_(log_options_of(options), [this] { return clock_.wall(); }) {
        if (!options.inbox_database.empty()) inbox_writer_.emplace("posthorn-inbox");
        core_ = value_or_throw(node_core::open(
            core_options_of(options),
            {clock_, timer_, random_, network_.executor(), writer_, readers_, workers_, log_,
             process_hub(), inbox_writer_ ? &*inbox_writer_ : nullptr}));
    }
    ~parts() { stop(); }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;

    void start() { value_or_throw(posthorn::start(network_.executor(), core_->start()).get()); }
    void stop() {
        posthorn::start(network_.executor(), core_->stop()).get();
        core_->stop_stores();
    }
    void wait() { posthorn::start(network_.executor(), wait_for_signal()).get(); }
    node_core& core() { return *core_; }

private:
    real_clock clock_;
    real_timer timer_;
    system_random random_;
    logger log_;
    worker_threads writer_{"posthorn-write"};
    std::optional<worker_threads> inbox_writer_;
    worker_threads readers_{"posthorn-read", 2};
    worker_threads workers_{"posthorn-work", 4};
    // One thread, so that everything on it is in one strand without paying for a strand.
    io_threads network_{"posthorn-io"};
    std::unique_ptr<node_core> core_;
};

node::node(node_options options) : parts_(std::make_unique<parts>(options)) {}
node::~node() = default;

void node::start() { parts_->start(); }
void node::stop() { parts_->stop(); }
void node::wait() {
    parts_->wait();
    stop();
}

void node::add_handler(std::string endpoint,
                       std::function<std::string(context&, const message&)> handler,
                       bool takes_responses) {
    value_or_throw(parts_->core().registry().add(
        std::move(endpoint),
        {.run = transactional_handler(std::move(handler)), .takes_responses = takes_responses}));
}

void node::add_external_handler(std::string endpoint,
                                std::function<std::string(const message&)> handler,
                                external_options options, bool takes_responses) {
    value_or_throw(parts_->core().registry().add(std::move(endpoint),
                                                 {.run = blocking_handler(std::move(handler)),
                                                  .lease = options.lease,
                                                  .takes_responses = takes_responses}));
}

void node::add_response_handler(std::string endpoint,
                                std::function<std::string(context&, const message&)> handler) {
    value_or_throw(parts_->core().registry().add_response(
        std::move(endpoint), {.run = transactional_handler(std::move(handler))}));
}

void node::on_dead(std::function<void(class transaction&, const dead_letter&)> hook) {
    parts_->core().hooks().on_dead(std::move(hook));
}

void node::on_expired(std::function<void(class transaction&, const dead_letter&)> hook) {
    parts_->core().hooks().on_expired(std::move(hook));
}

std::size_t node::declare_offer(const detail::service_info& offered) {
    return value_or_throw(parts_->core().registry().offer(offered));
}

void node::add_service_handler(std::size_t service, std::size_t position,
                               std::function<std::string(context&, const message&)> handler) {
    value_or_throw(parts_->core().registry().add_to_service(
        service, position, {.run = transactional_handler(std::move(handler))}));
}

void node::declare_use(detail::service_use use) {
    value_or_throw(parts_->core().declare_use(std::move(use)));
}

std::shared_ptr<detail::reply_state> node::start_call(detail::call_target to, std::string payload,
                                                      send_options options) {
    auto expected = value_or_throw(parts_->core().expect_response(to.endpoint, options));
    send(to.destination, to.endpoint, payload, std::move(options));
    return expected;
}

std::shared_ptr<detail::reply_state> node::post_call(detail::call_target to, std::string payload,
                                                     send_options options) {
    auto expected = value_or_throw(parts_->core().expect_response(to.endpoint, options));
    auto& core = parts_->core();
    core.submit_then(
        [destination = std::string(to.destination), endpoint = std::string(to.endpoint),
         payload = std::move(payload),
         options](class transaction& tx) { tx.send(destination, endpoint, payload, options); },
        [&core, id = options.correlation_id](std::exception_ptr failure) {
            if (failure) core.fail_response(id, std::move(failure));
        });
    return expected;
}

void node::run_transaction(const std::function<void(class transaction&)>& work) {
    parts_->core().run(work);
}

void node::transaction_then(std::function<void(class transaction&)> work,
                            std::function<void(std::exception_ptr)> done) {
    parts_->core().submit_then(std::move(work), std::move(done));
}

uuid node::send(std::string_view destination, std::string_view endpoint, std::string_view payload,
                send_options options) {
    return transaction(
        [&](class transaction& tx) { return tx.send(destination, endpoint, payload, options); });
}

ticket node::send(sqlite3* handle, std::string_view destination, std::string_view endpoint,
                  std::string_view payload, send_options options) {
    const auto body = value_or_throw(parts_->core().make_message({.destination = destination,
                                                                  .endpoint = endpoint,
                                                                  .payload = payload,
                                                                  .options = std::move(options)}));
    value_or_throw(sqlite::insert_on(handle, body));
    return {body.id};
}

void node::durable(const ticket& of) { value_or_throw(parts_->core().durable(of.id)); }

bool node::requeue(const uuid& id) { return value_or_throw(parts_->core().requeue(id)); }

node_health node::health() const { return parts_->core().health(); }
node_stats node::stats() const { return value_or_throw(parts_->core().stats()); }
void node::check_integrity() { value_or_throw(parts_->core().check_integrity()); }

}  // namespace posthorn
