#include "app/node/node_database.hpp"

namespace posthorn {

result<std::unique_ptr<node_database>> node_database::open(const sqlite::sqlite_options& file,
                                                           const surroundings& around) {
    const auto& [options, with, writer, routes, ended] = around;
    std::unique_ptr<node_database> made(new node_database);
    POSTHORN_LET(opened, open_store(file, options.server, {with.clock, writer, with.log}));
    made->store_ = std::move(opened);
    made->dispatcher_ = std::make_unique<class dispatcher>(
        dispatcher_services{*made->store_, with.readers, with.clock, with.timer, with.random,
                            with.log, routes, &ended},
        options.outbox, options.retries, options.owner_is_gone);
    made->watchdog_ = std::make_unique<watchdog>(*made->store_, with.timer, with.log,
                                                 options.watchdog, options.fail_stop);
    made->cleanup_ = options.cleanup;
    made->retention_ = std::make_unique<outbox_retention>(*made->store_, with.clock, with.timer,
                                                          with.log, options.retention);
    if (options.backup && with.backups != nullptr)
        made->backups_ = std::make_unique<sqlite::backup_keeper>(
            sqlite::backup_keeper::source{file.path, file.service}, *options.backup,
            sqlite::backup_keeper::parts{with.clock, with.timer, *with.backups, with.log});
    if (made->store_->shares_dispatch())
        made->retention_job_ =
            std::make_unique<shared_job>(shared_job::services{*made->store_, with.clock, with.timer,
                                                              with.log, options.owner_is_gone},
                                         options.outbox.lease, "retention",
                                         [kept = made->retention_.get()] { return kept->run(); });
    if (options.server) {  // The rest cares for a file.
        made->news_ = watch_server(*options.server, *made->store_, with,
                                   [served = made->dispatcher_.get()] { served->wake(); });
        return made;
    }
    if (options.retention.vacuum == vacuum_mode::weekly)
        made->vacuum_ = std::make_unique<weekly_vacuum>(
            weekly_vacuum::parts{*made->store_, with.readers, with.clock, with.timer, with.log});
    if (file.disk.low_water > 0 || file.disk.ballast > 0)
        made->disk_ = std::make_unique<disk_watch>(*made->store_, with.readers, with.timer);
    if (options.watch_commits)
        made->watcher_ = std::make_unique<sqlite::commit_watcher>(
            file.path, with.timer, with.log,
            [served = made->dispatcher_.get()] { return served->changed_by_others(); },
            [served = made->dispatcher_.get()] { served->wake(); });
    return made;
}

node_database::~node_database() {
    if (store_) store_->stop();
}

void node_database::start(task_group& services, with_outbox dispatch) {
    services.spawn(watchdog_->run());
    if (cleanup_) services.spawn(retention_job_ ? retention_job_->run() : retention_->run());
    if (backups_) services.spawn(backups_->run());
    if (vacuum_) services.spawn(vacuum_->run());
    if (disk_) services.spawn(disk_->run());
    if (dispatch == with_outbox::no) return;
    services.spawn(dispatcher_->run());
    if (watcher_) services.spawn(watcher_->run());
    if (news_) services.spawn(news_->run());
}

void node_database::stop() {
    dispatcher_->stop();
    if (backups_) backups_->stop();
}

std::optional<sqlite::backup_state> node_database::backups() const {
    if (!backups_) return std::nullopt;
    return backups_->state();
}

}  // namespace posthorn
