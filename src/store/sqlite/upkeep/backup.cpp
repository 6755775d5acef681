#include "store/sqlite/upkeep/backup.hpp"

#include <memory>

#include <sqlite3.h>

#include "store/rows/stored_time.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

struct copy_end {
    void operator()(sqlite3_backup* copy) const noexcept { sqlite3_backup_finish(copy); }
};
using copy_handle = std::unique_ptr<sqlite3_backup, copy_end>;

bool is_cancelled(const backup_options& options) {
    return options.cancelled != nullptr && *options.cancelled;
}

result<connection> open_source(const std::string& path) {
    auto source = connection::open({.path = path});
    if (!source) return source;
    POSTHORN_TRY(
        source->execute("PRAGMA query_only = ON; PRAGMA cache_size = -2000; PRAGMA mmap_size = 0;"
                        "PRAGMA wal_autocheckpoint = 0"));
    // Nor when it closes, even if no other has the file open.
    sqlite3_db_config(source->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return source;
}

result<connection> open_copy(const fs::path& path) {
    auto copy = connection::open({.path = path.string()});
    if (!copy) return copy;
    // It is removed unless it is finished, so nothing need be able to roll it back.
    POSTHORN_TRY(copy->execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
    return copy;
}

result<> copy_pages(connection& from, connection& to, const backup_options& options,
                    const clock& time) {
    const copy_handle copy(sqlite3_backup_init(to.handle(), "main", from.handle(), "main"));
    if (!copy) return std::unexpected(last_error(to.handle()));
    for (;;) {
        if (is_cancelled(options)) return fail(error_code::cancelled, "the backup was cancelled");
        const auto begun = time.steady();
        const int code = sqlite3_backup_step(copy.get(), options.step_pages);
        const std::int64_t all = sqlite3_backup_pagecount(copy.get());
        if (options.progress) options.progress(all - sqlite3_backup_remaining(copy.get()), all);
        if (code == SQLITE_DONE) return {};
        if (code != SQLITE_OK)
            return fail(classify(code), "copying the database failed: {} (SQLite {})",
                        sqlite3_errstr(code), code);
        if (options.rest) options.rest(time.steady() - begun);
    }
}

/// One file without a log beside it, which says when it was taken.
result<> finish_copy(connection& copy, wall_time taken_at) {
    POSTHORN_TRY(copy.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY"));
    const auto has_meta =
        copy.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'posthorn_meta'");
    POSTHORN_TRY(has_meta);
    if (*has_meta == 0)
        return fail(error_code::invalid_argument,
                    "the database has no tables of Posthorn; is it the right file?");
    statement note(copy, "INSERT OR REPLACE INTO posthorn_meta VALUES ('backup_taken_at', ?)");
    POSTHORN_TRY(note.run(to_ms(taken_at)));
    return {};
}

/// Gives the time before which every commit is in the copy.
result<wall_time> fill(const fs::path& target, const backup_options& options, const clock& time) {
    POSTHORN_LET(from, open_source(options.database));
    POSTHORN_LET(to, open_copy(target));
    const auto taken_at = time.wall();
    // One snapshot for all steps: otherwise every foreign commit would make it begin anew, and
    // under load it would never end.
    POSTHORN_TRY(from.execute("BEGIN"));
    POSTHORN_TRY(from.integer("SELECT count(*) FROM sqlite_schema"));
    POSTHORN_TRY(copy_pages(from, to, options, time));
    POSTHORN_TRY(finish_copy(to, taken_at));
    return taken_at;
}

result<> make_folder(const fs::path& folder) {
    std::error_code failure;
    if (folder.empty() || fs::is_directory(folder, failure)) return {};
    failure.clear();
    fs::create_directories(folder, failure);
    if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
    if (!failure) return {};
    return fail(error_code::io_failed, "cannot make the folder {} for backups: {}", folder.string(),
                failure.message());
}

template <class Name>
result<backup_report> back_up(const fs::path& folder, const backup_options& options,
                              const clock& time, const Name& name) {
    std::error_code unusable;
    if (!fs::exists(options.database, unusable))
        return fail(error_code::not_found, "there is no database at {}; name another one",
                    options.database);
    POSTHORN_TRY(make_folder(folder));
    const auto stem = fs::path(options.database).stem().string();
    // Its folder may be open to every user, whatever the database's is.
    constexpr unsigned closed_to_others = 0770;
    POSTHORN_LET(target, new_file::make(folder / fmt::format(".{}.unfinished", stem),
                                        options.database, closed_to_others));
    POSTHORN_LET(taken_at, fill(target.path(), options, time));
    POSTHORN_TRY(target.sync());
    POSTHORN_LET(facts, verify_backup(target.path(), options.service, options.cancelled));
    const fs::path named = name(taken_at);
    POSTHORN_TRY(target.keep_as(named, new_file::if_there::refuse));
    return backup_report{named, std::move(facts)};
}

}  // namespace

result<backup_report> back_up_into(const fs::path& folder, const backup_options& options,
                                   const clock& time) {
    return back_up(folder, options, time, [&](wall_time taken_at) {
        return folder / backup_name(options.database, taken_at);
    });
}

result<backup_report> back_up_as(const fs::path& file, const backup_options& options,
                                 const clock& time) {
    std::error_code unusable;
    if (fs::exists(file, unusable))  // Sooner than after all the work.
        return fail(error_code::invalid_argument,
                    "{} is there already and stays as it is; choose another name", file.string());
    return back_up(file.parent_path(), options, time, [&](wall_time) { return file; });
}

}  // namespace posthorn::sqlite
