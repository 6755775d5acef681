#include <csignal>
#include <filesystem>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <posthorn/node.hpp>

#include "app/node/node_config.hpp"
#include "app/node/node_runtime.hpp"
#include "app/store/open_store.hpp"
#include "base/planted.hpp"
#include "base/text/utf8.hpp"
#include "engine/engine.hpp"
#include "forward/forward_desk.hpp"
#include "forward/forward_rows.hpp"
#include "message/refusal.hpp"
#include "store/inside_unit.hpp"
#include "store/sqlite/commit/foreign_handle.hpp"
#include "webhook/webhook_program.hpp"

namespace posthorn {
namespace {

namespace asio = boost::asio;

// In full: the process may go elsewhere later.
std::filesystem::path file_of(const config& settings) {
    const std::filesystem::path written = settings.path_of(settings.store.url);
    std::error_code failed;
    auto whole = std::filesystem::absolute(written, failed);
    return failed ? written : whole;
}

task<> wait_for_signal() {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace

/// The node that runs.
class node::parts {
public:
    explicit parts(const node_options& options, const config* beneath = nullptr)
        : runtime_(value_or_throw(
              node_runtime::open(config_of(options, beneath), {.log_sink = options.log_sink,
                                                               .on_fail_stop = options.on_fail_stop,
                                                               .transports = options.transports,
                                                               .make_folders = beneath != nullptr,
                                                               .retry = custom_backoff_of(options),
                                                               .serializer = options.serializer,
                                                               .wall_clock = options.wall_clock}))),
          file_(file_of(runtime_->settings())),
          serializer_(options.serializer) {}

    void start() { value_or_throw(posthorn::start(runtime_->network(), runtime_->start()).get()); }
    void stop() { runtime_->stop_and_wait(); }
    void wait() { posthorn::start(runtime_->network(), wait_for_signal()).get(); }
    node_core& core() { return runtime_->core(); }
    node_runtime& runtime() { return *runtime_; }
    [[nodiscard]] const std::filesystem::path& file() const { return file_; }
    [[nodiscard]] const std::shared_ptr<const serializer>& written_by() const {
        return serializer_;
    }

private:
    std::unique_ptr<node_runtime> runtime_;
    std::filesystem::path file_;
    std::shared_ptr<const serializer> serializer_;
};

namespace {

/// The message as a handler of a type takes it: JSON.
message as_json(const message& received, const serializer& by) {
    message plain = received;
    try {
        plain.payload = by.to_json(received.payload);
    } catch (const std::exception& misfit) {
        throw permanent(misfit.what());
    }
    plain.content_type = "application/json";
    return plain;
}

/// A handler of a type, `handler(context&, const message&)` or `handler(const message&)`, with the
/// node's serializer before it.
template <class... Context>
detail::unique_function<std::string(Context&..., const message&)> reading(
    const std::shared_ptr<const serializer>& by,
    detail::unique_function<std::string(Context&..., const message&)> handler) {
    if (!by) return handler;
    return [by, run = std::move(handler)](Context&... with, const message& received) {
        if (received.content_type != by->content_type()) return run(with..., received);
        return run(with..., as_json(received, *by));
    };
}

}  // namespace

node::node(node_options options) : parts_(std::make_unique<parts>(options)) {}
node::node(configuration from) : parts_(std::make_unique<parts>(from.options, from.rest_.get())) {}
node::~node() = default;

void node::start() { parts_->start(); }
void node::stop() {
    value_or_throw(require_outside_unit());
    parts_->stop();
}
void node::wait() {
    value_or_throw(require_outside_unit());
    parts_->wait();
    stop();
}

void node::add_handler(std::string endpoint, transactional handler, bool is_typed) {
    if (is_typed) handler = reading<context>(parts_->written_by(), std::move(handler));
    value_or_throw(parts_->core().registry().add(
        std::move(endpoint),
        {.run = transactional_handler(std::move(handler)), .takes_responses = !is_typed}));
}

void node::add_external_handler(std::string endpoint, external handler, external_options options,
                                bool is_typed) {
    if (is_typed) handler = reading<>(parts_->written_by(), std::move(handler));
    value_or_throw(parts_->core().registry().add(std::move(endpoint),
                                                 {.run = blocking_handler(std::move(handler)),
                                                  .lease = options.lease,
                                                  .takes_responses = !is_typed}));
}

void node::add_response_handler(std::string endpoint, transactional handler) {
    auto answered = [call = std::move(handler)](context& with, const message& received) mutable {
        if (const auto why = refusal_in(received.headers))
            throw permanent("the Command was refused: " + *why);
        return call(with, received);
    };
    value_or_throw(parts_->core().registry().add_response(
        std::move(endpoint), {.run = transactional_handler(std::move(answered))}));
}

void node::add_workflow(const detail::workflow_entry& code, const detail::start_rule& rule) {
    auto* const runs = parts_->core().features().find<engine>();
    value_or_throw(runs->add(code, rule));
}

std::optional<workflow_view> node::find_workflow(std::string_view name, std::string_view id) const {
    std::optional<workflow_view> seen;
    value_or_throw(parts_->core().store().read([&](store_reader& from) -> result<> {
        POSTHORN_LET(found, view_instance(from, name, id));
        seen = std::move(found);
        return {};
    }));
    return seen;
}

workflow_view node::await_workflow(std::string_view name, std::string_view id,
                                   std::chrono::milliseconds within) {
    // Another node of the file may end it, too, which nothing tells of.
    constexpr std::chrono::milliseconds look_interval = std::chrono::seconds{1};
    value_or_throw(require_outside_unit());
    const auto& runs = *parts_->core().features().find<engine>();
    const auto& time = runs.time();
    const auto begun = time.steady();
    for (;;) {
        const auto ends = runs.ends();
        const auto seen = find_workflow(name, id);
        if (!seen)
            throw error(error_code::not_found, fmt::format("there is no workflow {} {}", name, id));
        if (seen->status != flow_status::running) return *seen;
        const auto past = std::chrono::floor<std::chrono::milliseconds>(time.steady() - begun);
        if (past >= within)
            throw error(error_code::timed_out,
                        fmt::format("{} {} has not ended within {} ms; wait longer, or see what it "
                                    "waits for with 'posthorn workflow show'",
                                    name, id, within.count()));
        runs.await_end(ends, std::min(look_interval, within - past));
    }
}

void node::forward_handler(std::string category,
                           detail::unique_function<bool(const forward_message&)> handler,
                           forward_category how) {
    auto& desk = *parts_->core().features().find<forward_desk>();
    value_or_throw(desk.add(std::move(category), {.run = std::move(handler), .how = how}));
}

void node::on_forward_attempt(
    detail::unique_function<void(transaction&, const forward_attempt&)> observer) {
    parts_->core().features().find<forward_desk>()->observe(std::move(observer));
}

void node::on_forward_activity(detail::unique_function<void(const forward_activity&)> told) {
    parts_->core().features().find<forward_desk>()->tell_to(std::move(told));
}

publish_options node::on_behalf_of(const std::vector<claim>& claims, publish_options more) const {
    const auto& of = *parts_->core().features().find<webhook_program>();
    return take_claims(std::move(more), claims, of.claims());
}

void node::webhook_subscribers(const std::vector<webhook_subscriber>& all) {
    value_or_throw(parts_->core().features().find<webhook_program>()->give(all));
}

void node::webhook_secrets(webhook_secret_function find) {
    parts_->core().features().find<webhook_program>()->find_secrets_with(std::move(find));
}

forwarded node::forward(std::string_view category, std::string_view target,
                        std::string_view payload, forward_options options) {
    auto& desk = *parts_->core().features().find<forward_desk>();
    if (!options.id) options.id = desk.new_id();
    const auto id = *options.id;
    if (POSTHORN_PLANTED(attempt_before_commit))
        if (const auto* const by = desk.find(category); by != nullptr && by->run)
            by->run({.id = id,
                     .category = std::string(category),
                     .target = std::string(target),
                     .payload = std::string(payload)});
    const bool waits = options.attempt_now && desk.answers(category, target);
    const auto first = waits ? desk.expect(id) : nullptr;
    try {
        transact([&](transaction& tx) { tx.forward(category, target, payload, options); });
    } catch (...) {
        desk.forget(id);
        throw;
    }
    auto seen = first ? first->wait(desk.defaults().wait) : std::nullopt;
    // If its attempt has just ended, what came of it is being recorded.
    if (!desk.forget(id) && first && !seen) seen = first->wait(desk.defaults().wait);
    const auto came = seen.value_or(forwarded{.id = id, .accepted = true, .buffered = true});
    if (came.buffered)
        desk.tell({.what = "Queued",
                   .id = id,
                   .category = std::string(category),
                   .target = std::string(target)});
    return came;
}

std::optional<tracked_operation> node::tracking(std::string_view id) const {
    const auto read_id = uuid::parse(id);
    if (!read_id)
        throw error(error_code::invalid_argument,
                    fmt::format("'{}' is not the id of an operation", clean_utf8(id, 100)));
    std::optional<tracked_operation> seen;
    value_or_throw(parts_->core().store().read([&](store_reader& from) -> result<> {
        POSTHORN_LET(found, find_tracked(from, *read_id));
        seen = std::move(found);
        return {};
    }));
    return seen;
}

void node::on_dead(detail::unique_function<void(transaction&, const dead_letter&)> hook) {
    parts_->core().hooks().on_dead(std::move(hook));
}

void node::on_expired(detail::unique_function<void(transaction&, const dead_letter&)> hook) {
    parts_->core().hooks().on_expired(std::move(hook));
}

std::size_t node::declare_offer(const detail::service_info& offered) {
    return value_or_throw(parts_->core().registry().offer(offered));
}

void node::add_service_handler(std::size_t service, std::size_t position, transactional handler) {
    value_or_throw(parts_->core().registry().add_to_service(
        service, position,
        {.run =
             transactional_handler(reading<context>(parts_->written_by(), std::move(handler)))}));
}

void node::add_external_service_handler(std::size_t service, std::size_t position, external handler,
                                        external_options options) {
    value_or_throw(parts_->core().registry().add_to_service(
        service, position,
        {.run = blocking_handler(reading<>(parts_->written_by(), std::move(handler))),
         .lease = options.lease}));
}

void node::declare_use(detail::service_use use) {
    value_or_throw(parts_->core().declare_use(std::move(use)));
}

std::shared_ptr<detail::reply_state> node::start_call(detail::send_request asked) {
    return value_or_throw(parts_->core().call(std::move(asked)));
}

std::shared_ptr<detail::reply_state> node::post_call(detail::send_request asked) {
    return value_or_throw(parts_->core().post_call(std::move(asked)));
}

void node::run_transaction(const std::function<void(transaction&)>& work) {
    parts_->core().run(work);
}

void node::transact_then(detail::unique_function<void(transaction&)> work,
                         detail::unique_function<void(std::exception_ptr)> done) {
    parts_->core().submit_then(std::move(work), std::move(done));
}

message node::make(detail::send_request asked) const {
    return value_or_throw(parts_->core().make_message(std::move(asked)));
}

uuid node::store(detail::send_request asked) {
    return value_or_throw(parts_->core().store_message(make(std::move(asked))));
}

void node::store_then(message made, detail::unique_function<void(uuid, std::exception_ptr)> done) {
    parts_->core().store_message_then(std::move(made), std::move(done));
}

ticket node::store_on(pg_conn* handle, detail::send_request asked) {
    const auto& settings = parts_->runtime().settings();
    return {value_or_throw(insert_on_server(handle, settings, make(std::move(asked))))};
}

ticket node::store_on(sqlite3* handle, detail::send_request asked) {
    const auto body = make(std::move(asked));
    if (const auto disk = disk_of(parts_->core().store()); !may_grow(disk.state))
        throw error(error_code::store_full, describe(disk));
    return {value_or_throw(sqlite::insert_on(handle, parts_->file(), body))};
}

void node::durable(const ticket& of) { value_or_throw(parts_->core().durable(of.id)); }

bool node::requeue(const uuid& id) { return value_or_throw(parts_->core().requeue(id)); }

bool node::pause(std::string_view destination, std::string_view reason) {
    return value_or_throw(parts_->core().change_pause(
        {.destination = std::string(destination), .paused = true, .reason = std::string(reason)}));
}

bool node::resume(std::string_view destination) {
    return value_or_throw(
        parts_->core().change_pause({.destination = std::string(destination), .paused = false}));
}

std::vector<std::string> node::addresses() const { return parts_->runtime().urls(); }
std::string node::database_file() const { return parts_->file().string(); }
node_health node::health() const { return parts_->core().health(); }
node_stats node::stats() const { return value_or_throw(parts_->core().stats()); }
void node::check_integrity() { value_or_throw(parts_->core().check_integrity()); }

}  // namespace posthorn
