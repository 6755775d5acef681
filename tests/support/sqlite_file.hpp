#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <sqlite3.h>

namespace posthorn::test {

/// A database seen from outside, through a handle of its own.
///
/// Lifetime: opens in the constructor; everything throws `std::runtime_error` with SQLite's words.
/// Threads:  one at a time.
class sqlite_file {
public:
    enum open_mode : bool { existing, make };
    explicit sqlite_file(const std::string& path, open_mode mode = existing);

    void run(const std::string& sql);
    /// The first column of the first row; 0 or empty if there is none.
    [[nodiscard]] std::int64_t integer(const std::string& sql);
    [[nodiscard]] std::string text(const std::string& sql);
    /// The first column of all rows, a line each.
    [[nodiscard]] std::string lines(const std::string& sql);

    /// Whether it can be done now: not while a process that holds the file stands still.
    [[nodiscard]] bool takes(const std::string& sql);

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }
    void close() { handle_.reset(); }

private:
    struct closer {
        void operator()(sqlite3* handle) const { sqlite3_close(handle); }
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

}  // namespace posthorn::test
