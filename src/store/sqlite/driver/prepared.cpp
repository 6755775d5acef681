#include "store/sqlite/driver/prepared.hpp"

#include <array>

#include <sqlite3.h>

#include "base/assert.hpp"
#include "store/sqlite/driver/failures.hpp"

namespace posthorn::sqlite {

void prepared::finalizer::operator()(sqlite3_stmt* handle) const noexcept {
    sqlite3_finalize(handle);
}

// An index that the statement does not have is a bug of ours. Other than that, binding fails for want
// of memory, or because a value is larger than SQLite takes: then the statement does.
void prepared::note_binding(int code) {
    POSTHORN_ASSERT(code != SQLITE_RANGE && code != SQLITE_MISUSE);
    if (code != SQLITE_OK) binding_failed_ = true;
}

void prepared::bind(int index, std::nullptr_t) {
    note_binding(sqlite3_bind_null(handle_.get(), index));
}
void prepared::bind(int index, std::int64_t value) {
    note_binding(sqlite3_bind_int64(handle_.get(), index, value));
}
void prepared::bind(int index, double value) {
    note_binding(sqlite3_bind_double(handle_.get(), index, value));
}
void prepared::bind(int index, std::string_view value) {
    // An empty view may have no address, which would bind NULL.
    const char* const data = value.data() == nullptr ? "" : value.data();
    note_binding(
        sqlite3_bind_text64(handle_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void prepared::bind(int index, blob value) {
    static constexpr std::byte none{};
    const void* const data = value.bytes.empty() ? &none : value.bytes.data();
    note_binding(
        sqlite3_bind_blob64(handle_.get(), index, data, value.bytes.size(), SQLITE_STATIC));
}
void prepared::bind(int index, const uuid& value) {
    std::array<char, 36> text{};
    value.format_to(text);
    note_binding(sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(),
                                     SQLITE_TRANSIENT, SQLITE_UTF8));
}
void prepared::bind(int index, const sql_param& value) {
    std::visit([&](const auto& one) { bind(index, one); }, value);
}

result<bool> prepared::step() {
    if (binding_failed_)
        return fail(error_code::statement_failed,
                    "a value is larger than SQLite takes, or there is not enough memory for it");
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return std::unexpected(last_error(sqlite3_db_handle(handle_.get())));
}

void prepared::reset() noexcept {
    sqlite3_reset(handle_.get());
    sqlite3_clear_bindings(handle_.get());
    binding_failed_ = false;
}

int prepared::parameters() const noexcept { return sqlite3_bind_parameter_count(handle_.get()); }

std::size_t prepared::size() const {
    return static_cast<std::size_t>(sqlite3_column_count(handle_.get()));
}
std::string_view prepared::name(std::size_t column) const {
    const char* const name = sqlite3_column_name(handle_.get(), static_cast<int>(column));
    return name ? name : std::string_view{};
}
sql_kind prepared::kind(std::size_t column) const {
    switch (sqlite3_column_type(handle_.get(), static_cast<int>(column))) {
        case SQLITE_INTEGER: return sql_kind::integer;
        case SQLITE_FLOAT: return sql_kind::real;
        case SQLITE_TEXT: return sql_kind::text;
        case SQLITE_BLOB: return sql_kind::blob;
        default: return sql_kind::null;
    }
}
bool prepared::is_null(std::size_t column) const {
    return sqlite3_column_type(handle_.get(), static_cast<int>(column)) == SQLITE_NULL;
}
std::int64_t prepared::integer(std::size_t column) const {
    return sqlite3_column_int64(handle_.get(), static_cast<int>(column));
}
double prepared::real(std::size_t column) const {
    return sqlite3_column_double(handle_.get(), static_cast<int>(column));
}
std::string_view prepared::text(std::size_t column) const {
    const auto index = static_cast<int>(column);
    const void* const data = sqlite3_column_text(handle_.get(), index);
    if (data == nullptr) return {};
    return {static_cast<const char*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), index))};
}
std::span<const std::byte> prepared::bytes(std::size_t column) const {
    const auto index = static_cast<int>(column);
    const void* const data = sqlite3_column_blob(handle_.get(), index);
    if (data == nullptr) return {};
    return {static_cast<const std::byte*>(data),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), index))};
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

result<prepared> prepared::make(sqlite3* database, std::string_view sql, use meant) {
    POSTHORN_LET(raw,
                 prepare_on(database, sql, meant == use::often ? SQLITE_PREPARE_PERSISTENT : 0));
    prepared made;
    made.handle_.reset(raw);
    return made;
}

}  // namespace posthorn::sqlite
