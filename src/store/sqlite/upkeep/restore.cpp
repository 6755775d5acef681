#include "store/sqlite/upkeep/restore.hpp"

#include <algorithm>

#include <sqlite3.h>
#include <unistd.h>

#include "base/planted.hpp"
#include "store/rows/stored_time.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/driver/file_locks.hpp"
#include "store/sqlite/driver/leftover_wal.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/upkeep/backup.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

/// What the database that is to go had come to.
struct predecessor {
    bool is_there = false;
    std::optional<std::int64_t> epoch{};  // Empty if it cannot be read.
};

/// Moves what is in its log into the file, which SQLite allows only to who has it alone; then there
/// is one file to keep, and its place is taken in one step.
result<std::int64_t> close_down(const std::string& database) {
    POSTHORN_LET(
        opened, connection::open({.path = database, .busy_timeout = std::chrono::milliseconds{0}}));
    POSTHORN_TRY(save_left_log(opened));
    auto epoch = opened.integer("SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'");
    POSTHORN_TRY(opened.execute("PRAGMA journal_mode = DELETE"));
    return epoch;
}

result<predecessor> look_at_predecessor(const std::string& database, const fs::path& kept) {
    std::error_code unusable;
    predecessor seen{.is_there = fs::exists(database, unusable)};
    if (!seen.is_there) return seen;
    POSTHORN_TRY(sole_use::take(database));
    // SQLite removes a log that it finds useless; of a damaged database a person may think better.
    const fs::path log = kept.string() + "-wal";
    fs::create_hard_link(database + "-wal", log, unusable);
    auto epoch = close_down(database);
    const bool is_busy = !epoch && epoch.error().code() == error_code::store_busy;
    if (epoch || is_busy) fs::remove(log, unusable);
    if (is_busy) return std::unexpected(std::move(epoch).error());
    if (epoch) seen.epoch = *epoch;
    return seen;
}

result<> write_epoch(connection& copy, std::int64_t epoch, wall_time now) {
    statement lease(copy, R"sql(
        INSERT OR REPLACE INTO posthorn_leases (name, owner, epoch, beat)
        VALUES ('dispatcher', NULL, ?, 0))sql");
    POSTHORN_TRY(lease.run(epoch));
    statement note(copy, R"sql(
        INSERT OR REPLACE INTO posthorn_meta
        SELECT 'restored_at', ?1
        UNION ALL SELECT 'restored_from',
            (SELECT value FROM posthorn_meta WHERE name = 'backup_taken_at')
        UNION ALL SELECT 'restores',
            1 + coalesce((SELECT value FROM posthorn_meta WHERE name = 'restores'), 0))sql");
    POSTHORN_TRY(note.run(to_ms(now)));
    return copy.execute("DELETE FROM posthorn_meta WHERE name = 'backup_taken_at'");
}

/// What lies beside a file that is to go would be taken for what belongs to its successor.
result<> move_logs(const fs::path& database, const fs::path& kept) {
    for (const auto* const beside : {"-wal", "-journal"}) {
        const fs::path log = database.string() + beside;
        std::error_code failure;
        if (!fs::exists(log, failure)) continue;
        fs::rename(log, kept.string() + beside, failure);
        // A renaming leaves two names of one file as they are.
        if (!failure) fs::remove(log, failure);
        if (failure)
            return fail(error_code::io_failed, "cannot move {} aside: {}", log.string(),
                        failure.message());
    }
    ::unlink((database.string() + "-shm").c_str());
    return {};
}

result<> keep_aside(const fs::path& database, const fs::path& kept) {
    std::error_code failure;
    fs::create_hard_link(database, kept, failure);
    if (!failure) return {};
    return fail(error_code::io_failed, "cannot keep {} as {}: {}; nothing was changed",
                database.string(), kept.string(), failure.message());
}

/// A copy that was found whole, beside the database that it is to replace.
result<new_file> stage(const restore_options& options) {
    std::error_code unusable;
    const bool has_model = fs::exists(options.database, unusable);
    auto copy = new_file::make(options.database + ".restoring",
                               has_model ? fs::path(options.database) : options.backup);
    if (!copy) return copy;
    if (!fs::is_regular_file(options.backup, unusable) ||
        fs::exists(options.backup.string() + "-wal", unusable))
        POSTHORN_TRY(verify_backup(options.backup, options.service));  // Says what is wrong.
    POSTHORN_TRY(copy->copy_from(options.backup));
    return copy;
}

/// Puts the copy in its place, and keeps what was there.
result<> swap_in(new_file& copy, const fs::path& database, const fs::path& kept) {
    POSTHORN_TRY(sole_use::take(database));
    std::error_code unusable;
    const bool is_there = fs::exists(database, unusable);
    if (is_there) POSTHORN_TRY(keep_aside(database, kept));
    POSTHORN_TRY(move_logs(database, kept));
    return copy.keep_as(database, new_file::if_there::replace);
}

}  // namespace

std::int64_t epoch_after_restore(std::int64_t in_backup, std::optional<std::int64_t> replaced) {
    // How many owners a lost database had since the backup is not known.
    constexpr std::int64_t owners_unknown = 1'000'000;
    if (POSTHORN_PLANTED(restore_keeps_the_epoch)) return in_backup;
    if (!replaced) return in_backup + owners_unknown;
    return std::max(in_backup, *replaced) + 1;
}

result<> begin_epoch(const open_options& file, std::int64_t epoch, wall_time now) {
    POSTHORN_LET(copy, connection::open(file));
    POSTHORN_TRY(copy.execute("BEGIN IMMEDIATE"));
    POSTHORN_TRY(write_epoch(copy, epoch, now));
    POSTHORN_TRY(copy.execute("COMMIT"));
    // Producers may come before the node does (docs/adr/0032).
    return copy.execute("PRAGMA journal_mode = WAL");
}

result<> raise_epochs(const open_options& file) {
    POSTHORN_LET(database, connection::open(file));
    // What changes stays in the log, for others who follow the file from here on.
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    POSTHORN_TRY(database.execute("PRAGMA wal_autocheckpoint = 0"));
    return database.execute(
        "BEGIN IMMEDIATE;"
        "UPDATE posthorn_leases SET epoch = epoch + 1;"
        "UPDATE posthorn_meta SET value = value + 1 WHERE name = 'barrier';"  // Always a change.
        "COMMIT");
}

result<restore_report> restore(const restore_options& asked, const clock& time) {
    // What a link leads to is replaced, not the link; its logs lie beside it too.
    std::error_code unusable;
    auto options = asked;
    if (fs::exists(asked.database, unusable))
        options.database = fs::canonical(asked.database, unusable).string();
    // Who finds out now need not wait for a copy.
    POSTHORN_TRY(sole_use::take(options.database));
    POSTHORN_LET(copy, stage(options));
    POSTHORN_LET(facts, verify_backup(copy.path(), options.service));
    const auto now = time.wall();
    const fs::path database = options.database;
    const auto kept = database.parent_path() /
                      fmt::format("{}.before-{}.db", database.stem().string(), to_name_part(now));
    POSTHORN_LET(before, look_at_predecessor(options.database, kept));
    const auto epoch = epoch_after_restore(facts.epoch, before.epoch);
    POSTHORN_TRY(begin_epoch({.path = copy.path().string()}, epoch, now));
    POSTHORN_TRY(swap_in(copy, database, kept));
    return restore_report{.kept = before.is_there ? kept : fs::path{},
                          .taken_at = facts.taken_at,
                          .epoch = epoch,
                          .service = facts.service,
                          .replaced_damaged = before.is_there && !before.epoch};
}

}  // namespace posthorn::sqlite
