#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "store/sqlite/driver/failures.hpp"
#include "store/sqlite/driver/prepared.hpp"

struct sqlite3;

namespace posthorn::sqlite {

struct open_options {
    std::string path;
    std::string vfs{};  // The system's, unless a test gives its own.
    bool create = false;
    std::chrono::milliseconds busy_timeout = std::chrono::seconds{5};
};

/// One handle on a database file.
///
/// Lifetime: its statements are gone before it.
/// Threads:  one at a time.
class connection {
public:
    static result<connection> open(const open_options& options);
    /// A database in memory that nothing else sees.
    static result<connection> open_empty();

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }
    /// Whether what runs now is not committed by itself.
    [[nodiscard]] bool is_in_transaction() const noexcept;
    /// For SQL that is not ours, or is run once; the tables have a `statement` for each of theirs.
    result<prepared> prepare(std::string_view sql);
    /// Runs statements that give no rows, one after the other.
    result<> execute(const char* sql);
    /// The same, and again while others are in the way, for as long as it waits otherwise. Between
    /// two that read and both want to write, SQLite waits for neither.
    result<> insist(const char* sql);
    /// The first column of the first row.
    result<std::int64_t> integer(const char* sql);

private:
    struct closer {
        void operator()(sqlite3* handle) const noexcept;
    };
    /// How to wait for another's lock.
    struct patience;
    struct forgetter {
        void operator()(patience* kept) const noexcept;
    };
    explicit connection(sqlite3* handle) : handle_(handle) {}
    void be_patient(std::chrono::milliseconds limit);

    std::unique_ptr<patience, forgetter> patience_;  // Goes after the handle, which refers to it.
    std::unique_ptr<sqlite3, closer> handle_;
};

}  // namespace posthorn::sqlite
