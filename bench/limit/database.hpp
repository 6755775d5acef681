#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace posthorn::bench {

/// A prepared statement, kept for ever.
///
/// Lifetime: shorter than its connection's.
class statement {
public:
    statement(sqlite3* on, std::string_view sql);
    ~statement() { sqlite3_finalize(raw_); }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    // Bound without a copy: what they point to outlives the next `run`.
    void bind(int place, std::int64_t value) { sqlite3_bind_int64(raw_, place, value); }
    void bind_text(int place, std::string_view value);
    void bind_blob(int place, std::span<const std::uint8_t> value);
    /// False where a constraint refuses it; throws for all else.
    bool run();
    /// The same where no constraint may.
    void must_run();
    [[nodiscard]] std::int64_t get();
    /// Calls `visit` for each row.
    void for_each(const std::function<void(sqlite3_stmt*)>& visit);

private:
    sqlite3_stmt* raw_ = nullptr;
};

/// A file in WAL mode with `synchronous=FULL`.
///
/// Lifetime: longer than its statements'.
class database {
public:
    database(const std::string& file, std::string_view tables);
    ~database() { sqlite3_close(raw_); }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    [[nodiscard]] sqlite3* raw() const { return raw_; }
    void execute(const std::string& sql);

private:
    sqlite3* raw_ = nullptr;
};

}  // namespace posthorn::bench
