#include "store/sqlite/driver/connection.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sqlite3.h>

#include "base/assert.hpp"

namespace posthorn::sqlite {

error_code classify(int extended_code) noexcept {
    switch (extended_code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL: return error_code::store_busy;
        case SQLITE_FULL: return error_code::store_full;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return error_code::store_corrupt;
        case SQLITE_READONLY: return error_code::store_read_only;
        case SQLITE_CANTOPEN: return error_code::store_unavailable;
        case SQLITE_IOERR: return error_code::io_failed;
        case SQLITE_INTERRUPT: return error_code::statement_interrupted;
        case SQLITE_AUTH: return error_code::statement_forbidden;
        default: return error_code::statement_failed;
    }
}

namespace {

std::string_view advice(error_code code) {
    switch (code) {
        case error_code::store_busy: return "; another process holds the database, try again";
        case error_code::store_full: return "; free space on the disk, nothing was lost";
        case error_code::store_corrupt: return "; stop the service and restore a backup";
        case error_code::store_read_only: return "; give the service the right to write the file";
        case error_code::store_unavailable: return "; look at the path and its permissions";
        case error_code::statement_interrupted: return "; the unit took too long, make it smaller";
        case error_code::statement_forbidden:
            return "; a unit must not begin, end or nest transactions, attach, or use PRAGMA";
        default: return "";
    }
}

}  // namespace

error last_error(sqlite3* handle) {
    const auto code = classify(sqlite3_extended_errcode(handle));
    return {code, fmt::format("{} (SQLite {}){}", sqlite3_errmsg(handle),
                              sqlite3_extended_errcode(handle), advice(code))};
}

void statement::finalizer::operator()(sqlite3_stmt* handle) const noexcept {
    sqlite3_finalize(handle);
}

// Binding fails only for an index that the statement does not have, which is a bug of ours, or for
// want of memory.
namespace {
void expect_ok(int code) { POSTHORN_ASSERT(code == SQLITE_OK); }
}  // namespace

void statement::bind(int index, std::nullptr_t) {
    expect_ok(sqlite3_bind_null(handle_.get(), index));
}
void statement::bind(int index, std::int64_t value) {
    expect_ok(sqlite3_bind_int64(handle_.get(), index, value));
}
void statement::bind(int index, double value) {
    expect_ok(sqlite3_bind_double(handle_.get(), index, value));
}
void statement::bind(int index, std::string_view value) {
    // An empty view may have no address, which would bind NULL.
    const char* const data = value.data() == nullptr ? "" : value.data();
    expect_ok(
        sqlite3_bind_text64(handle_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void statement::bind(int index, blob value) {
    static constexpr std::byte none{};
    const void* const data = value.bytes.empty() ? &none : value.bytes.data();
    expect_ok(sqlite3_bind_blob64(handle_.get(), index, data, value.bytes.size(), SQLITE_STATIC));
}
void statement::bind(int index, const uuid& value) {
    std::array<char, 36> text{};
    value.format_to(text);
    expect_ok(sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(), SQLITE_TRANSIENT,
                                  SQLITE_UTF8));
}
void statement::bind(int index, const sql_param& value) {
    std::visit([&](const auto& one) { bind(index, one); }, value);
}
void statement::bind_or_null(int index, std::string_view value) {
    if (value.empty()) return bind(index, nullptr);
    bind(index, value);
}

result<bool> statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return std::unexpected(last_error(sqlite3_db_handle(handle_.get())));
}

result<> statement::run() {
    auto stepped = step();
    reset();
    if (!stepped) return std::unexpected(std::move(stepped).error());
    return {};
}

void statement::reset() noexcept {
    sqlite3_reset(handle_.get());
    sqlite3_clear_bindings(handle_.get());
}

int statement::parameters() const noexcept { return sqlite3_bind_parameter_count(handle_.get()); }

std::size_t statement::size() const {
    return static_cast<std::size_t>(sqlite3_column_count(handle_.get()));
}
std::string_view statement::name(std::size_t column) const {
    const char* const name = sqlite3_column_name(handle_.get(), static_cast<int>(column));
    return name ? name : std::string_view{};
}
sql_kind statement::kind(std::size_t column) const {
    switch (sqlite3_column_type(handle_.get(), static_cast<int>(column))) {
        case SQLITE_INTEGER: return sql_kind::integer;
        case SQLITE_FLOAT: return sql_kind::real;
        case SQLITE_TEXT: return sql_kind::text;
        case SQLITE_BLOB: return sql_kind::blob;
        default: return sql_kind::null;
    }
}
bool statement::is_null(std::size_t column) const {
    return sqlite3_column_type(handle_.get(), static_cast<int>(column)) == SQLITE_NULL;
}
std::int64_t statement::integer(std::size_t column) const {
    return sqlite3_column_int64(handle_.get(), static_cast<int>(column));
}
double statement::real(std::size_t column) const {
    return sqlite3_column_double(handle_.get(), static_cast<int>(column));
}
std::string_view statement::text(std::size_t column) const {
    const auto index = static_cast<int>(column);
    const void* const data = sqlite3_column_text(handle_.get(), index);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), index))};
}
std::span<const std::byte> statement::bytes(std::size_t column) const {
    const auto index = static_cast<int>(column);
    const void* const data = sqlite3_column_blob(handle_.get(), index);
    if (data == nullptr) return {};
    return {static_cast<const std::byte*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), index))};
}

void connection::closer::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }

result<connection> connection::open(const open_options& options) {
    const std::filesystem::path directory = std::filesystem::path(options.path).parent_path();
    std::error_code ignored;
    if (options.vfs.empty() && !directory.empty() && !std::filesystem::exists(directory, ignored))
        return fail(error_code::store_unavailable,
                    "the directory '{}' does not exist; create it, or change the database's path "
                    "(node_options::database, or store.url)",
                    directory.string());
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
    opened.be_patient(options.busy_timeout);
    return opened;
}

struct connection::patience {
    sqlite3_vfs* sleeper = nullptr;
    std::chrono::microseconds limit{};
    std::chrono::microseconds waited{};

    bool wait(int times_before) {
        constexpr int pause_min_us = 50;
        constexpr int doublings_max = 3;
        if (times_before == 0) waited = {};
        if (waited >= limit) return false;
        const int pause_us = pause_min_us << std::min(times_before, doublings_max);
        sleeper->xSleep(sleeper, pause_us);
        waited += std::chrono::microseconds(pause_us);
        return true;
    }
};

void connection::forgetter::operator()(patience* kept) const noexcept { delete kept; }

// SQLite's own waiting grows to pauses of 100 ms, in which a producer that commits without pause
// takes the lock again and again; nobody queues for it. Short pauses get their turn.
void connection::be_patient(std::chrono::milliseconds limit) {
    patience_.reset(new patience{.limit = limit});
    sqlite3_file_control(handle(), "main", SQLITE_FCNTL_VFS_POINTER,
                         static_cast<void*>(&patience_->sleeper));
    const auto wait = [](void* kept, int times_before) -> int {
        return static_cast<patience*>(kept)->wait(times_before) ? 1 : 0;
    };
    sqlite3_busy_handler(handle(), wait, patience_.get());
}

namespace {

result<sqlite3_stmt*> prepare_on(sqlite3* database, std::string_view sql, unsigned flags) {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), flags,
                                        &prepared, &rest);
    if (code != SQLITE_OK) return std::unexpected(last_error(database));
    if (prepared == nullptr)
        return fail(error_code::statement_failed, "the SQL is empty; give a statement");
    const std::string_view left = sql.substr(static_cast<std::size_t>(rest - sql.data()));
    if (left.find_first_not_of(" \t\r\n;") == std::string_view::npos) return prepared;
    sqlite3_finalize(prepared);
    return fail(error_code::statement_failed, "one statement at a time; this is left over: {}",
                left.substr(0, 80));
}

}  // namespace

result<statement> statement::prepare_once(sqlite3* database, std::string_view sql) {
    POSTHORN_LET(raw, prepare_on(database, sql, 0));
    statement prepared;
    prepared.handle_.reset(raw);
    return prepared;
}

result<statement> connection::prepare(std::string_view sql) {
    POSTHORN_LET(raw, prepare_on(handle_.get(), sql, SQLITE_PREPARE_PERSISTENT));
    statement prepared;
    prepared.handle_.reset(raw);
    return prepared;
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
    POSTHORN_LET(row, query.step());
    return row ? query.integer(0) : 0;
}

}  // namespace posthorn::sqlite
