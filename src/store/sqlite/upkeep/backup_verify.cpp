// Whether a backup can be relied on, found without writing anything.
#include <array>
#include <cctype>
#include <memory>

#include <sqlite3.h>

#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/schema/migrate.hpp"
#include "store/sqlite/upkeep/backup.hpp"

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

struct closer {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
};
using read_handle = std::unique_ptr<sqlite3, closer>;

/// A file that does not change needs no lock, and so no other file beside it.
std::string unchanging_uri(const fs::path& file) {
    std::string uri = "file:";
    for (const char each : file.string()) {
        const auto byte = static_cast<unsigned char>(each);
        if (std::isalnum(byte) != 0 || each == '/' || each == '.' || each == '-' || each == '_')
            uri += each;
        else
            uri += fmt::format("%{:02X}", byte);
    }
    return uri + "?mode=ro&immutable=1";
}

result<read_handle> open_unchanging(const fs::path& file) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(
        unchanging_uri(file).c_str(), &raw,
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
        nullptr);
    read_handle opened(raw);
    if (code != SQLITE_OK) return std::unexpected(last_error(raw));
    return opened;
}

result<std::string> text_of(sqlite3* database, std::string_view sql) {
    statement query(database, sql);
    POSTHORN_LET(found, query.run());
    return found.empty() ? std::string{} : found.front().get<std::string>(0);
}

result<std::int64_t> number_of(sqlite3* database, std::string_view sql) {
    statement query(database, sql);
    POSTHORN_LET(found, query.run());
    return found.empty() ? 0 : found.front().integer(0);
}

result<> check_pages(sqlite3* database, const fs::path& file, const std::atomic<bool>* cancelled) {
    constexpr int instructions_between_looks = 10'000;
    if (cancelled != nullptr)
        sqlite3_progress_handler(
            database, instructions_between_looks,
            [](void* flag) -> int { return *static_cast<const std::atomic<bool>*>(flag) ? 1 : 0; },
            const_cast<std::atomic<bool>*>(cancelled));  // NOLINT: it is only read.
    const auto found = text_of(database, "PRAGMA integrity_check(1)");
    sqlite3_progress_handler(database, 0, nullptr, nullptr);
    if (cancelled != nullptr && *cancelled)
        return fail(error_code::cancelled, "the check of the backup was cancelled");
    if (found && *found == "ok") return {};
    return fail(error_code::store_corrupt, "{} is damaged: {}; use another backup", file.string(),
                found ? *found : std::string(found.error().what()));
}

result<> check_tables(sqlite3* database, const fs::path& file) {
    const auto tables = number_of(
        database,
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('posthorn_meta',"
        " 'posthorn_migrations', 'posthorn_leases', 'outbox_messages', 'inbox_messages')");
    POSTHORN_TRY(tables);
    constexpr int tables_needed = 5;
    if (*tables != tables_needed)
        return fail(error_code::invalid_argument,
                    "{} has not the tables of Posthorn; is it the right file?", file.string());
    const auto step =
        number_of(database, "SELECT max(number) FROM posthorn_migrations WHERE folder = 'store'");
    POSTHORN_TRY(step);
    const int known = store_tables().steps.back().number;
    if (*step <= known) return {};
    return fail(error_code::store_too_new,
                "the tables of {} are at step {}, this Posthorn knows {}; use the newer Posthorn "
                "that made them",
                file.string(), *step, known);
}

result<backup_facts> read_facts(sqlite3* database, const fs::path& file) {
    backup_facts facts;
    POSTHORN_LET(service,
                 text_of(database, "SELECT value FROM posthorn_meta WHERE name = 'service'"));
    facts.service = std::move(service);
    const auto taken_at =
        number_of(database, "SELECT value FROM posthorn_meta WHERE name = 'backup_taken_at'");
    POSTHORN_TRY(taken_at);
    if (*taken_at != 0) facts.taken_at = wall_time(std::chrono::milliseconds(*taken_at));
    const auto epoch =
        number_of(database, "SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'");
    POSTHORN_TRY(epoch);
    facts.epoch = *epoch;
    std::error_code unusable;
    facts.bytes = fs::file_size(file, unusable);
    return facts;
}

}  // namespace

result<backup_facts> verify_backup(const fs::path& file, const std::string& service,
                                   const std::atomic<bool>* cancelled) {
    std::error_code unusable;
    if (!fs::is_regular_file(file, unusable))
        return fail(error_code::not_found, "there is no backup at {}; see 'posthorn backup list'",
                    file.string());
    for (const auto* const beside : {"-wal", "-journal"})
        if (fs::exists(file.string() + beside, unusable))
            return fail(error_code::invalid_argument,
                        "{0} has a log beside it ({0}{1}), so it is a database, or a copy of one, "
                        "and no backup; make one with 'posthorn backup'",
                        file.string(), beside);
    POSTHORN_LET(opened, open_unchanging(file));
    POSTHORN_TRY(check_pages(opened.get(), file, cancelled));
    POSTHORN_TRY(check_tables(opened.get(), file));
    auto facts = read_facts(opened.get(), file);
    if (facts && !service.empty() && !facts->service.empty() && facts->service != service)
        return fail(error_code::invalid_argument, "{} is a backup of the service '{}', not of '{}'",
                    file.string(), facts->service, service);
    return facts;
}

}  // namespace posthorn::sqlite
