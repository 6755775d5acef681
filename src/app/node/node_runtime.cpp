#include "app/node/node_runtime.hpp"

#include <cstdlib>
#include <utility>

#include "app/config/core_settings.hpp"
#include "app/config/lane_warnings.hpp"
#include "app/config/node_watch.hpp"
#include "app/config/secrets.hpp"
#include "app/node/configured_handlers.hpp"
#include "app/store/open_store.hpp"
#include "app/store/process_identity.hpp"
#include "base/async/task_group.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds time_to_tell_senders{500};

}  // namespace

inprocess_hub& process_hub() {
    static inprocess_hub hub;
    return hub;
}

node_runtime::node_runtime(config settings, runtime_options options)
    : settings_(std::move(settings)),
      options_(std::move(options)),
      clock_(options_.wall_clock),
      log_(
          {.level = settings_.log.level, .format = settings_.log.format, .sink = options_.log_sink},
          [this] { return clock_.wall(); }) {}

result<std::unique_ptr<node_runtime>> node_runtime::open(config settings, runtime_options options) {
    std::unique_ptr<node_runtime> made(new node_runtime(std::move(settings), std::move(options)));
    POSTHORN_TRY(made->build());
    return made;
}

result<> node_runtime::make_memory_files() {
    auto& store = settings_.store;
    for (database_url* const url : {&store.url, store.inbox_url ? &*store.inbox_url : nullptr}) {
        if (url == nullptr || !url->in_memory) continue;
        POSTHORN_LET(made, sqlite::memory_file::make());
        url->path = made->path();
        in_memory_.push_back(std::move(made));
    }
    return {};
}

void node_runtime::warn_about_durability() {
    if (!settings_.is_durable())
        log_.warn(
            "The store is in memory and NOT DURABLE: it ends with this node; for tests alone");
    const bool chose_defaults = settings_.origins.contains("service.defaults");
    if (const auto note = note_on(settings_, "inbox.retention"); chose_defaults && !note.empty())
        log_.info("inbox.retention: {Note}", {{"Note", note}});
}

result<> node_runtime::build() {
    POSTHORN_TRY(make_memory_files());
    POSTHORN_LET(rings, usable_secrets(settings_));
    warn_of_old_keys(rings);
    warn_of_tight_lanes(settings_);
    keys_.replace(std::move(rings));
    POSTHORN_LET(network, network_connector::open(settings_,
                                                  {environment_of(), keys_, options_.transports}));
    connector_ = std::move(network);
    if (settings_.store.inbox_url) inbox_writer_.emplace("posthorn-inbox");
    if (!settings_.backup.folder.empty()) backups_.emplace("posthorn-backup");
    seams_.emplace(seams());
    auto options = options_of_core();
    POSTHORN_LET(watch, load_node_watch(settings_));
    options.watch = std::move(watch);
    if (options_.make_folders && !options.server) {
        POSTHORN_TRY(make_folder_of(options.database.path));
        if (options.inbox_database) POSTHORN_TRY(make_folder_of(options.inbox_database->path));
    }
    POSTHORN_LET(core, node_core::open(std::move(options), *seams_));
    core_ = std::move(core);
    POSTHORN_TRY(add_configured_hooks(settings_, seams_->env, core_->store(), core_->hooks()));
    return add_configured_handlers(settings_, {seams_->env, core_->registry(), core_->inbox_store(),
                                               connector_->caller(), refused_});
}

result<peer_keys::rings> node_runtime::usable_secrets(const config& from) const {
    config_problems found;
    auto rings = load_secrets(from, found);
    const auto is_own = [this](std::string_view url) {
        return options_.transports.contains(url.substr(0, url.find(':')));
    };
    check_routes(from, rings, is_own, found);
    POSTHORN_TRY(found.outcome());
    return rings;
}

void node_runtime::warn_of_old_keys(const peer_keys::rings& rings) {
    for (const auto& peer : peers_without_signer(rings, clock_.wall()))
        log_.warn(
            "No key for {Peer} is in force, so nothing can be sent there: all are revoked, past "
            "their date or before it; add one under [secrets]",
            {{"Peer", peer}});
}

void node_runtime::warn_of_tight_lanes(const config& from) {
    for (const auto& lane : find_tight_lanes(from))
        log_.warn(
            "Route {Destination}: {Window} batches of {Batch} messages may be under way, too many "
            "to "
            "be answered within {Timeout} ms; lengthen the time-out, or lower window or batch",
            {{"Destination", lane.destination},
             {"Window", lane.window},
             {"Batch", lane.batch},
             {"Timeout", lane.timeout.count()}});
}

environment node_runtime::environment_of() {
    return {.clock = clock_,
            .timer = timer_,
            .random = random_,
            .log = log_,
            .network = network_.executor(),
            .readers = readers_,
            .workers = workers_,
            .traces = &traces_};
}

node_seams node_runtime::seams() {
    return {.env = environment_of(),
            .writer = writer_,
            .hub = process_hub(),
            .backups = backups_ ? &*backups_ : nullptr,
            .inbox_writer = inbox_writer_ ? &*inbox_writer_ : nullptr,
            .connector = connector_.get(),
            .web = connector_->web(),
            .identity = &connector_->identity()};
}

namespace {

/// An application's policy, which must not take the sending down with it.
custom_backoff guarded(custom_backoff policy, logger& log) {
    return [policy = std::move(policy), &log](
               std::int32_t attempts,
               std::string_view why) -> std::optional<std::chrono::milliseconds> {
        try {
            return policy(attempts, why);
        } catch (const std::exception& failure) {
            log.error("Outbox: the retry policy threw, so half a minute is waited: {Error}",
                      {{"Error", failure.what()}});
        } catch (...) {
            log.error("Outbox: the retry policy threw, so half a minute is waited");
        }
        return std::chrono::seconds{30};
    };
}

// What an application's clock shows is meant.
constexpr clock_watch_options believe_all{.jump_min = std::chrono::years{1000},
                                          .hold = std::chrono::milliseconds{0}};

}  // namespace

core_options node_runtime::options_of_core() {
    auto core = core_settings(settings_);
    if (options_.retry) core.retries = retry_policy(guarded(options_.retry, log_));
    core.sending.serializer = options_.serializer;
    if (options_.wall_clock)
        core.outbox.clock = core.inbox.clock = core.retention.clock = believe_all;
    core.may_call = options_.may_call;
    core.node = process_name();
    core.outbox.lease.owner = process_identity(settings_.service.id);
    core.owner_is_gone = [](const std::string& owner) { return process_is_gone(owner); };
    core.fail_stop = [told = options_.on_fail_stop](const std::string& why) {
        if (told) told(why);
        std::abort();
    };
    if (options_.adjust) options_.adjust(core);
    return core;
}

node_runtime::~node_runtime() { stop_and_wait(); }

task<result<>> node_runtime::start() {
    if (stopped_)
        co_return fail(error_code::closed, "the node was stopped; make a new one to start again");
    if (started_) co_return result<>{};
    POSTHORN_CO_LET(
        bound, listeners::open(settings_, {*core_, *seams_, keys_, refused_, options_.findings}));
    POSTHORN_CO_TRY(co_await core_->start());
    warn_about_durability();
    listeners_ = std::move(bound);
    listeners_->start();
    started_ = true;
    co_return result<>{};
}

// Both at once, since each waits for as long as work in flight may take. The listeners have a
// little more patience than the handlers, so that their senders are still told.
task<> node_runtime::stop() {
    if (std::exchange(stopped_, true)) co_return;
    const auto patience = settings_.outbox.drain_timeout;
    task_group impatient(network_.executor());
    impatient.spawn(give_up_after(patience));
    task_group stopping(network_.executor());
    if (listeners_) stopping.spawn(listeners_->stop(patience + time_to_tell_senders));
    if (core_) stopping.spawn(core_->stop());
    co_await stopping.join();
    impatient.cancel();
    co_await impatient.join();
    if (connector_) co_await connector_->stop();
}

task<> node_runtime::give_up_after(std::chrono::milliseconds patience) {
    if (co_await timer_.sleep_for(patience) && core_) core_->cut_off();
}

void node_runtime::stop_and_wait() {
    posthorn::start(network_.executor(), stop()).get();
    if (core_) core_->stop_stores();
}

void node_runtime::cut_off() {
    if (core_) core_->cut_off();
    if (listeners_) listeners_->cut_off();
    if (connector_) connector_->cut_off();
}

namespace {

/// Such as a file that was emptied, or one that an editor has not written yet.
bool has_lost_everything(const config& running, const config& fresh) {
    const auto has_any = [](const config& one) {
        return !one.routes.empty() || !one.secrets.empty() || !one.admin.keys.empty();
    };
    return has_any(running) && !has_any(fresh);
}

}  // namespace

result<> node_runtime::reload(const config& fresh) {
    if (has_lost_everything(settings_, fresh))
        return fail(error_code::invalid_configuration,
                    "it has no routes, no secrets and no admin keys any more, so nothing of it was "
                    "taken over; write the file anew, or restart the node if that is meant");
    POSTHORN_LET(rings, usable_secrets(fresh));
    if (const auto loaded = listeners_->reload_certificate(); !loaded)
        return std::unexpected(fresh.at_key("tls.certificate", loaded.error()));
    if (const auto loaded = connector_->reload_certificates(); !loaded)
        return std::unexpected(fresh.at_key("tls.authority", loaded.error()));
    POSTHORN_TRY(core_->replace_routes(routes_of(fresh), default_route_of(fresh)));
    warn_of_old_keys(rings);
    warn_of_tight_lanes(fresh);
    keys_.replace(std::move(rings));
    listeners_->replace_admin_keys(admin_keys_of(fresh), admin_proxy_of(fresh));
    core_->try_silent();  // A route, a key or a certificate may have been why.
    return {};
}

std::vector<std::string> keys_that_need_a_restart(const config& running, const config& fresh) {
    const auto is_taken_over = [](std::string_view key) {
        return key.starts_with("routes.") || key.starts_with("secrets.") ||
               key.starts_with("signatures.") || key.starts_with("admin.");
    };
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const auto& entry : list_config(running)) values[entry.key].first = entry.value;
    for (const auto& entry : list_config(fresh)) values[entry.key].second = entry.value;
    std::vector<std::string> keys;
    for (const auto& [key, both] : values)
        if (both.first != both.second && !is_taken_over(key)) keys.push_back(key);
    return keys;
}

}  // namespace posthorn
