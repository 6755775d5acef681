#include "app/node/node_database.hpp"

#include <tuple>

#include "outbox/dispatch/round_timer.hpp"

namespace posthorn {

result<std::unique_ptr<node_database>> node_database::open(const sqlite::sqlite_options& file,
                                                           const deps& around) {
    const auto& [options, with, writer, routes, ended, shipper] = around;
    std::unique_ptr<node_database> made(new node_database(with.env));
    POSTHORN_LET(opened,
                 open_store(file, options.server, {with.env.clock, writer, with.env.log, shipper}));
    made->store_ = std::move(opened);
    made->note_newest();
    auto& store = *made->store_;
    auto& upkeep = made->upkeep_;
    made->watchdog_ = &upkeep.add(std::make_unique<watchdog>(store, with.env.timer, with.env.log,
                                                             options.watchdog, options.fail_stop));
    auto retention = options.retention;
    if (!options.cleanup) {  // It only mends.
        retention.sent = retention.dead = retention.expired = std::nullopt;
        retention.resolved = retention.changes = std::nullopt;
        retention.vacuum = vacuum_mode::never;
    }
    upkeep.add(done_by_one({with.env, store, options.owner_is_gone}, options.outbox.lease,
                           std::make_unique<outbox_retention>(with.env, store, retention)));
    if (options.backup && with.backups != nullptr)
        made->backups_ = &upkeep.add(std::make_unique<sqlite::backup_keeper>(
            sqlite::backup_keeper::source{file.path, file.service}, *options.backup,
            sqlite::backup_keeper::parts{with.env.clock, with.env.timer, *with.backups,
                                         with.env.log}));
    made->dispatcher_ = &made->dispatch_.add(
        std::make_unique<class dispatcher>(dispatcher_deps{with.env, store, routes, &ended},
                                           options.outbox, options.retries, options.owner_is_gone));
    auto& served = *made->dispatcher_;
    if (auto watcher = watch_others(
            file.path, options, store, with,
            {[&served] { return served.changed_by_others(); }, [&served] { served.wake(); }}))
        made->dispatch_.add(std::move(watcher));
    if (options.outbox.timer)
        made->dispatch_.add(std::make_unique<round_timer>(with.env, served, *options.outbox.timer));
    auto* const kept = store.upkeep();
    if (kept != nullptr && options.retention.vacuum == vacuum_mode::weekly)
        upkeep.add(std::make_unique<weekly_vacuum>(with.env, store, *kept));
    const bool on_real_disk = file.vfs.empty();
    if (kept != nullptr && (on_real_disk || file.disk.low_water > 0 || file.disk.ballast > 0))
        upkeep.add(std::make_unique<disk_watch>(*kept, with.env.readers, with.env.timer));
    return made;
}

// A store that cannot be read says so soon enough.
void node_database::note_newest() {
    std::ignore = store_->read([this](store_reader& from) -> result<> {
        POSTHORN_LET(newest, from.inspect().newest());
        newest_at_start_ = newest;
        return {};
    });
    if (const auto lag = describe_lag(env_.clock.wall(), newest_at_start_); !lag.empty())
        env_.log.warn("Store: {Reason}", {{"Reason", lag}});
}

database_signs node_database::signs() const {
    return {.write_failure = store_->write_trouble(),
            .longest_wait = store_->longest_wait(),
            .is_stuck = is_stuck(),
            .lost_file = lost_file_of(*store_),
            .settling = dispatcher_->counters().settling.report(),
            .sweeps_fail = dispatcher_->sweep_trouble_now(),
            .odd_arrival = dispatcher_->odd_arrival(),
            .newest_at_start = newest_at_start_,
            .now = env_.clock.wall(),
            .steady_now = env_.clock.steady()};
}

node_database::~node_database() {
    if (store_) store_->stop();
}

void node_database::start(task_group& services, with_outbox dispatch) {
    upkeep_.start(services);
    if (dispatch == with_outbox::yes) dispatch_.start(services);
}

void node_database::stop() {
    dispatch_.stop();
    upkeep_.stop();
}

std::optional<sqlite::backup_state> node_database::backups() const {
    if (!backups_) return std::nullopt;
    return backups_->state();
}

}  // namespace posthorn
