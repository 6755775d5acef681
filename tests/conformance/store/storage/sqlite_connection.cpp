#include "conformance/store/storage/sqlite_connection.hpp"

#include <gtest/gtest.h>

namespace posthorn::conformance {

sqlite_connection::sqlite_connection(const std::string& path, const char* vfs, durability how) {
    sqlite3* raw = nullptr;
    sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE, vfs);
    handle_.reset(raw);
    sqlite3_busy_timeout(raw, 10'000);
    // Nobody's checkpoint but the store's is under test here.
    sqlite3_wal_autocheckpoint(raw, 0);
    const auto refused =
        run(how == durability::none ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL");
    EXPECT_EQ(refused, std::nullopt);
}

std::optional<std::string> sqlite_connection::run(std::string_view sql) {
    if (sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) ==
        SQLITE_OK)
        return std::nullopt;
    return sqlite3_errmsg(handle_.get());
}

std::vector<foreign_connection::row> sqlite_connection::rows(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> query(raw, &sqlite3_finalize);
    std::vector<row> found;
    int code = raw == nullptr ? SQLITE_ERROR : SQLITE_ROW;
    while (raw != nullptr && (code = sqlite3_step(raw)) == SQLITE_ROW) {
        auto& values = found.emplace_back();
        for (int i = 0; i < sqlite3_column_count(raw); ++i) {
            const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(raw, i));
            values.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
        }
    }
    EXPECT_EQ(code, SQLITE_DONE) << sql << ": " << sqlite3_errmsg(handle_.get());
    return found;
}

}  // namespace posthorn::conformance
