#include "support/sqlite_file.hpp"

#include <stdexcept>
#include <string_view>

namespace posthorn::test {
namespace {

constexpr int patience_ms = 10'000;

}  // namespace

sqlite_file::sqlite_file(const std::string& path, open_mode mode) {
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | (mode == make ? SQLITE_OPEN_CREATE : 0);
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);
    if (code != SQLITE_OK) throw std::runtime_error(path + ": " + sqlite3_errmsg(raw));
    sqlite3_busy_timeout(raw, patience_ms);
}

void sqlite_file::run(const std::string& sql) {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_.get()));
}

bool sqlite_file::takes(const std::string& sql) {
    sqlite3_busy_timeout(handle_.get(), 100);
    const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_busy_timeout(handle_.get(), patience_ms);
    return code == SQLITE_OK;
}

std::string sqlite_file::lines(const std::string& sql) {
    std::string found;
    const auto take = [](void* to, int, char** values, char**) {
        static_cast<std::string*>(to)->append(values[0] == nullptr ? "" : values[0]).append("\n");
        return 0;
    };
    if (sqlite3_exec(handle_.get(), sql.c_str(), take, &found, nullptr) != SQLITE_OK)
        throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_.get()));
    return found;
}

std::string sqlite_file::text(const std::string& sql) {
    const auto all = lines(sql);
    return all.substr(0, all.find('\n'));
}

std::int64_t sqlite_file::integer(const std::string& sql) {
    const auto found = text(sql);
    return found.empty() ? 0 : std::stoll(found);
}

}  // namespace posthorn::test
