#include "store/sqlite/driver/connection.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sqlite3.h>
#include <sys/stat.h>

namespace posthorn::sqlite {
namespace {

// A file that SQLite makes can be read by every user. This one cannot, whatever the umask is; the
// files beside it take its mode. Not by opening it: a close would drop locks of this process.
void make_closed_to_others(const std::string& path) {
    const bool names_a_file = !path.empty() && !path.starts_with(':') && !path.starts_with("file:");
    if (names_a_file) ::mknod(path.c_str(), S_IFREG | 0660U, 0);  // What fails here SQLite reports.
}

// As PostgreSQL has it, and later versions of SQLite: to length() a text ends at its first NUL.
void octet_length(sqlite3_context* with, int /*count*/, sqlite3_value** given) {
    if (sqlite3_value_type(given[0]) == SQLITE_NULL) return;
    sqlite3_result_int64(with, sqlite3_value_bytes(given[0]));
}

result<> add_functions(sqlite3* to) {
    constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    if (sqlite3_create_function_v2(to, "octet_length", 1, flags, nullptr, &octet_length, nullptr,
                                   nullptr, nullptr) != SQLITE_OK)
        return std::unexpected(last_error(to));
    return {};
}

}  // namespace

void connection::closer::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }

result<connection> connection::open(const open_options& options) {
    const std::filesystem::path directory = std::filesystem::path(options.path).parent_path();
    std::error_code ignored;
    if (options.vfs.empty() && !directory.empty() && !std::filesystem::exists(directory, ignored))
        return fail(error_code::store_unavailable,
                    "the directory '{}' does not exist; create it, or change the database's path "
                    "(store.url)",
                    directory.string());
    if (options.create && options.vfs.empty()) make_closed_to_others(options.path);
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (options.create ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(options.path.c_str(), &raw, flags,
                                     options.vfs.empty() ? nullptr : options.vfs.c_str());
    connection opened(raw);
    if (code != SQLITE_OK) {
        const error cause = last_error(raw);
        return fail(cause.code(), "cannot open '{}': {}", options.path, cause.what());
    }
    if (const char* const file = sqlite3_db_filename(raw, "main"); file == nullptr || *file == 0)
        return fail(error_code::store_unavailable,
                    "'{}' is a database in memory, which every connection would have for itself "
                    "and a restart would lose; give the path of a file",
                    options.path);
    // SQLite falls back to reading only without a word.
    if (sqlite3_db_readonly(raw, "main") == 1)
        return fail(error_code::store_read_only,
                    "'{}' cannot be written to; give the service the right to write the file and "
                    "its directory",
                    options.path);
    POSTHORN_TRY(add_functions(raw));
    opened.be_patient(options.busy_timeout);
    return opened;
}

result<connection> connection::open_empty() {
    sqlite3* raw = nullptr;
    const int code =
        sqlite3_open_v2(":memory:", &raw,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    connection opened(raw);
    if (code != SQLITE_OK) return std::unexpected(last_error(raw));
    return opened;
}

struct connection::patience {
    sqlite3_vfs* sleeper = nullptr;
    std::chrono::microseconds limit{};
    std::chrono::microseconds waited{};  // What it asked for; a busy machine sleeps longer.
    std::chrono::milliseconds begun{};

    [[nodiscard]] std::chrono::milliseconds now() const {
        sqlite3_int64 ms = 0;
        sleeper->xCurrentTimeInt64(sleeper, &ms);
        return std::chrono::milliseconds{ms};
    }
    bool wait(int times_before) {
        constexpr int pause_min_us = 50;
        constexpr int doublings_max = 3;
        if (times_before == 0) {
            waited = {};
            begun = now();
        }
        // The clock may be set back, so it is not asked alone.
        if (waited >= limit || now() - begun >= limit) return false;
        const int pause_us = pause_min_us << std::min(times_before, doublings_max);
        sleeper->xSleep(sleeper, pause_us);
        waited += std::chrono::microseconds(pause_us);
        return true;
    }
};

void connection::forgetter::operator()(patience* kept) const noexcept { delete kept; }

// SQLite's own waiting grows to pauses of 100 ms, in which a producer that commits without pause
// takes the lock again and again; there is no queue for it. Short pauses get their turn.
void connection::be_patient(std::chrono::milliseconds limit) {
    patience_.reset(new patience{.limit = limit});
    sqlite3_file_control(handle(), "main", SQLITE_FCNTL_VFS_POINTER,
                         static_cast<void*>(&patience_->sleeper));
    const auto wait = [](void* kept, int times_before) -> int {
        return static_cast<patience*>(kept)->wait(times_before) ? 1 : 0;
    };
    sqlite3_busy_handler(handle(), wait, patience_.get());
}

bool connection::is_in_transaction() const noexcept {
    return sqlite3_get_autocommit(handle_.get()) == 0;
}

result<prepared> connection::prepare(std::string_view sql) {
    return prepared::make(handle_.get(), sql, prepared::use::often);
}

result<> connection::execute(const char* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return std::unexpected(last_error(handle_.get()));
    return {};
}

result<> connection::insist(const char* sql) {
    for (int times = 0;; ++times) {
        auto done = execute(sql);
        if (done || done.error().code() != error_code::store_busy || !patience_->wait(times))
            return done;
    }
}

result<std::int64_t> connection::integer(const char* sql) {
    POSTHORN_LET(query, prepare(sql));
    POSTHORN_LET(is_there, query.step());
    return is_there ? query.integer(0) : 0;
}

}  // namespace posthorn::sqlite
