#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/detail/sql.hpp>
#include <posthorn/uuid.hpp>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace posthorn::sqlite {

/// A prepared statement. Bind, step until no row comes, reset.
///
/// Lifetime: not past its connection.
/// Threads:  its connection's.
class statement final : public sql_row {
public:
    statement() = default;
    /// On a handle that is not ours.
    static result<statement> prepare_once(sqlite3* database, std::string_view sql);

    void bind(int index, std::nullptr_t);
    void bind(int index, std::int64_t value);
    void bind(int index, double value);
    /// The text must stay until the statement is reset.
    void bind(int index, std::string_view value);
    void bind(int index, blob value);
    void bind(int index, const uuid& value);
    void bind(int index, const sql_param& value);
    /// An empty text is NULL in the table.
    void bind_or_null(int index, std::string_view value);

    /// True while there is a row.
    result<bool> step();
    /// Steps once, expecting no row, and resets.
    result<> run();
    void reset() noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] sqlite3_stmt* handle() const noexcept { return handle_.get(); }
    [[nodiscard]] int parameters() const noexcept;

    [[nodiscard]] std::size_t size() const override;
    [[nodiscard]] std::string_view name(std::size_t column) const override;
    [[nodiscard]] sql_kind kind(std::size_t column) const override;
    [[nodiscard]] bool is_null(std::size_t column) const override;
    [[nodiscard]] std::int64_t integer(std::size_t column) const override;
    [[nodiscard]] double real(std::size_t column) const override;
    [[nodiscard]] std::string_view text(std::size_t column) const override;
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t column) const override;

private:
    friend class connection;
    struct finalizer {
        void operator()(sqlite3_stmt* handle) const noexcept;
    };
    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

/// Resets a statement at the end of a scope, so that it holds no lock and no bound text.
class reset_at_end {
public:
    explicit reset_at_end(statement& used) : used_(used) {}
    ~reset_at_end() { used_.reset(); }
    reset_at_end(const reset_at_end&) = delete;
    reset_at_end& operator=(const reset_at_end&) = delete;

private:
    statement& used_;
};

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

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }
    /// For statements that are kept for ever.
    result<statement> prepare(std::string_view sql);
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

/// What a result code of SQLite means to a caller.
[[nodiscard]] error_code classify(int extended_code) noexcept;
/// The error that the handle's last call left.
[[nodiscard]] error last_error(sqlite3* handle);

}  // namespace posthorn::sqlite
