#include "store/sqlite/commit/sqlite_store.hpp"

#include <array>
#include <future>
#include <utility>

#include <sqlite3.h>

#include "base/planted.hpp"
#include "store/commit/lent_readers.hpp"
#include "store/inside_unit.hpp"
#include "store/sqlite/commit/group.hpp"
#include "store/sqlite/commit/reader.hpp"
#include "store/sqlite/commit/writer.hpp"
#include "store/sqlite/driver/leftover_wal.hpp"
#include "store/sqlite/driver/shipped_files.hpp"
#include "store/sqlite/driver/wal_guard.hpp"
#include "store/sqlite/schema/file_owner.hpp"
#include "store/sqlite/schema/mend_schema.hpp"
#include "store/sqlite/schema/migrate.hpp"
#include "store/sqlite/schema/set_defaults.hpp"
#include "store/sqlite/upkeep/moving.hpp"
#include "store/sqlite/upkeep/watched_files.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {
namespace {

/// An empty commit would sync nothing.
constexpr auto* change_a_page = "UPDATE posthorn_meta SET value = value + 1 WHERE name = 'barrier'";

/// The last connection to close copies the log into the file, unless told not to. After a failed
/// sync that would trust a log of which the disk may lack a part, and a power cut then leaves
/// neither the old pages nor the new ones; so only a store that has ended well does it.
void checkpoint_on_close(connection& database, bool wanted) {
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wanted ? 0 : 1, nullptr);
}

/// The store on one SQLite file: a writer, a few readers and the guard.
class sqlite_store final : public store, private file_upkeep {
public:
    static result<std::unique_ptr<store>> open(const sqlite_options& options,
                                               const sqlite_seams& seams);
    ~sqlite_store() override {
        if (writer_) stop();
        if (shipper_ != nullptr) shipper_->end();  // It could not be opened to the end.
    }
    sqlite_store(const sqlite_store&) = delete;
    sqlite_store& operator=(const sqlite_store&) = delete;

    void submit(unit work) override {
        std::vector<unit> one;
        one.push_back(std::move(work));
        writer_->submit(std::move(one));
    }
    void submit_and_wait(unit work) override {
        if (!writer_->run_here(work)) submit(std::move(work));
    }
    void submit(std::vector<unit> work) override { writer_->submit(std::move(work)); }
    result<> read(const std::function<result<>(store_reader&)>& look) override {
        return readers_->read(look);
    }
    void hand_to(commit_taker* taker) override { writer_->news().hand_to(taker); }
    void listen(commit_listener& listener) override { writer_->news().listen(listener); }
    void forget(commit_listener& listener) override { writer_->news().forget(listener); }
    result<bool> changed_by_others() override;
    void barrier(unit::done_type done) override;
    [[nodiscard]] bool has_failed() const override { return writer_->has_failed(); }
    [[nodiscard]] std::optional<error> write_trouble() const override { return writer_->trouble(); }
    [[nodiscard]] std::chrono::nanoseconds longest_wait() const override {
        return writer_->longest_wait();
    }
    [[nodiscard]] std::chrono::nanoseconds unit_age() const override { return group_->unit_age(); }
    [[nodiscard]] std::uint64_t units_done() const override { return writer_->units_done(); }
    [[nodiscard]] shared_dispatch* sharing() override { return nullptr; }
    [[nodiscard]] file_upkeep* upkeep() override { return this; }
    result<> check_integrity() override { return check(true); }
    void stop() override {
        writer_->stop();
        // With a standby the next run goes on with this log, of which the standby knows its place.
        if (shipper_ != nullptr)
            std::exchange(shipper_, nullptr)->end();
        else if (!writer_->has_failed() && !files_of_log_)
            checkpoint_on_close(*database_, true);
    }

private:
    void look_at_disk() override { room_->look(); }
    [[nodiscard]] disk_report disk() const override { return room_->report(); }
    void look_at_files() override {
        if (files_) files_->look();
    }
    [[nodiscard]] std::string lost_file() const override {
        return files_ ? files_->loss() : std::string{};
    }
    result<> compact() override;
    result<> begin_shipping(const open_options& file, log_shipper& shipper);
    result<> copy_left_log(leftover_wal left);
    result<> check(bool thorough) {
        return read([&](store_reader& from) { return check_pages(from, thorough); });
    }

    sqlite_store() = default;

    // In the order of their making; they go the other way round.
    std::unique_ptr<disk_keeper> room_;
    std::unique_ptr<connection> database_;
    std::unique_ptr<wal_guard> guard_;
    std::unique_ptr<group> group_;
    std::unique_ptr<lent_readers<reader>> readers_;
    std::unique_ptr<writer> writer_;
    std::unique_ptr<watched_files> files_;         // None on a disk of a test.
    std::unique_ptr<shipped_files> files_of_log_;  // None without a standby.
    log_shipper* shipper_ = nullptr;               // Between its `begin` and `end`.
};

// Only the writer's own connection tells a foreign commit from one of ours.
result<bool> sqlite_store::changed_by_others() {
    POSTHORN_TRY(require_outside_unit());
    std::promise<result<bool>> answer;
    writer_->post([&] {
        auto changed = group_->changed_by_others();
        if (changed && *changed) writer_->news().foreign_commit_taken();  // It is said once.
        answer.set_value(std::move(changed));
    });
    return answer.get_future().get();
}

result<> sqlite_store::compact() {
    POSTHORN_TRY(require_outside_unit());
    std::promise<result<>> answer;
    writer_->post([&] { answer.set_value(writer_->compact()); });
    return answer.get_future().get();
}

void sqlite_store::barrier(unit::done_type done) {
    submit({.work = [](store_transaction& tx) -> result<> {
                POSTHORN_TRY(tx.execute(change_a_page, {}));
                return {};
            },
            .done = std::move(done)});
}

// A disk of a test knows nothing of the machine's.
std::unique_ptr<disk_space> space_of(const sqlite_options& options) {
    if (options.disk_space) return options.disk_space();
    const bool is_asked = options.disk.low_water > 0 || options.disk.ballast > 0;
    return is_asked && options.vfs.empty() ? disk_space_of(options.path) : nullptr;
}

result<> prepare_file(connection& database, const sqlite_options& options) {
    // Only a file without tables takes this; in others it changes nothing.
    POSTHORN_TRY(database.insist("PRAGMA auto_vacuum = INCREMENTAL"));
    POSTHORN_TRY(database.insist("PRAGMA journal_mode = WAL"));
    constexpr std::array levels{"PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL",
                                "PRAGMA synchronous = OFF"};
    POSTHORN_TRY(database.execute(levels.at(static_cast<std::size_t>(options.sync))));
    if (POSTHORN_PLANTED(normal_in_the_inbox))
        POSTHORN_TRY(database.execute("PRAGMA synchronous = NORMAL"));
    return database.execute(
        "PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;"
        "PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0;"
        "PRAGMA journal_size_limit = 67108864");
}

result<leftover_wal> save_log(connection& database, const sqlite_options& options, logger& log) {
    if (options.sync == synchronous::off || POSTHORN_PLANTED(recovered_rows_unsynced))
        return leftover_wal::none;
    const auto found = save_left_log(database);
    POSTHORN_TRY(found);
    if (*found == leftover_wal::kept)
        log.warn(
            "Store: the log {File} that an earlier process left could not be written anew, for "
            "want of room or of a right; if a sync failed before, restart the machine first",
            {{"File", options.path + "-wal"}});
    return found;
}

// An empty log has no beginning that a standby could follow.
result<> sqlite_store::begin_shipping(const open_options& file, log_shipper& shipper) {
    POSTHORN_TRY(database_->execute(change_a_page));
    POSTHORN_LET(files, shipped_files::open(file));
    files_of_log_ = std::move(files);
    group_->ship_with(&shipper);
    shipper.begin(*files_of_log_);
    shipper_ = &shipper;
    return {};
}

// What a killed process left in the WAL may never have reached the disk, not even by a sync to
// come, if one failed before. Copied into the file and synced there, it has.
result<> sqlite_store::copy_left_log(leftover_wal left) {
    if (!guard_->hold() || !group_->begin()) return {};
    const bool may_copy = shipper_ == nullptr || shipper_->may_checkpoint(guard_->log_end());
    const auto copied = may_copy ? guard_->checkpoint() : result<>();
    group_->roll_back();
    POSTHORN_TRY(copied);
    if (!may_copy) {  // Of a log that was saved all is on the disk as it is.
        if (left == leftover_wal::none || left == leftover_wal::saved) return {};
        return fail(error_code::store_unavailable,
                    "the log that an earlier process left is neither saved nor on the standby; "
                    "start the standby, then start again");
    }
    // Until the log begins anew, a cut may leave less of it than was copied, and that would be
    // played over the file. A writer that is at it now begins it itself.
    const auto renewed = database_->execute(change_a_page);
    if (!renewed && renewed.error().code() == error_code::io_failed)
        return std::unexpected(renewed.error());
    return {};
}

result<std::unique_ptr<store>> sqlite_store::open(const sqlite_options& options,
                                                  const sqlite_seams& seams) {
    std::unique_ptr<sqlite_store> made(new sqlite_store);
    made->room_ = std::make_unique<disk_keeper>(space_of(options), options.disk, seams.log);
    if (options.vfs.empty()) POSTHORN_TRY(require_not_emptied(options.path));
    const open_options file{.path = options.path, .vfs = options.vfs, .create = true};
    POSTHORN_LET(database, connection::open(file));
    made->database_ = std::make_unique<connection>(std::move(database));
    checkpoint_on_close(*made->database_, false);
    POSTHORN_LET(left, save_log(*made->database_, options, seams.log));
    POSTHORN_TRY(require_free_names(*made->database_, options.above));
    POSTHORN_TRY(require_not_moved(*made->database_, options.path));
    POSTHORN_TRY(prepare_file(*made->database_, options));

    std::vector<migration_set> sets{store_tables()};
    for (const auto& each : options.above) sets.push_back(each.sqlite);
    POSTHORN_TRY(migrate(*made->database_, sets, seams.time));
    POSTHORN_LET(mended, mend_schema(*made->database_, sets));
    tell(mended, seams.log);
    POSTHORN_TRY(claim_for(*made->database_, options.service));
    if (options.defaults)
        if (const auto set = set_row_defaults(*made->database_, *options.defaults); !set)
            seams.log.warn(
                "Store: messages inserted with SQL keep the retries and the time to live that "
                "they had by default, whatever outbox.max_retries and outbox.message_ttl say: "
                "{Error}",
                {{"Error", set.error().what()}});
    // Units must not lose their neighbours' commits to pages that SQLite writes early (ADR 0053).
    if (!POSTHORN_PLANTED(pages_written_early))
        POSTHORN_TRY(made->database_->execute("PRAGMA cache_spill = OFF"));

    POSTHORN_LET(guard, wal_guard::open(file));
    made->guard_ = std::move(guard);
    const outbox_rules rules{.source = options.service, .limits = options.limits};
    POSTHORN_LET(commits, group::open(*made->database_, seams.time, rules, *made->room_));
    made->group_ = std::move(commits);
    made->readers_ = std::make_unique<lent_readers<reader>>(
        [file, rules] { return reader::open(file, rules); }, options.readers);
    POSTHORN_TRY(made->readers_->make_all());
    if (options.check != check_at_start::none && !POSTHORN_PLANTED(corruption_unseen))
        POSTHORN_TRY(made->check(options.check == check_at_start::full));

    if (seams.shipper != nullptr) POSTHORN_TRY(made->begin_shipping(file, *seams.shipper));
    if (!POSTHORN_PLANTED(recovered_rows_unsynced)) POSTHORN_TRY(made->copy_left_log(left));
    made->writer_ = std::make_unique<writer>(
        *made->database_, *made->group_, *made->guard_, *made->room_, seams.time, seams.writer,
        seams.log,
        writer_options{.shared = options.shared,
                       .wal_pages_checkpoint = options.wal_pages_checkpoint,
                       .shipper = seams.shipper});
    made->room_->look();
    if (options.vfs.empty())
        made->files_ = std::make_unique<watched_files>(
            options.path, sqlite3_db_filename(made->database_->handle(), "main"), seams.log);
    return made;
}

}  // namespace

result<std::unique_ptr<store>> open(const sqlite_options& options, const sqlite_seams& seams) {
    return sqlite_store::open(options, seams);
}

}  // namespace posthorn::sqlite
