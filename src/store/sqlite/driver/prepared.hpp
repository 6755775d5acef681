#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <posthorn/detail/sql.hpp>
#include <posthorn/uuid.hpp>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace posthorn::sqlite {

/// SQL as SQLite has prepared it, and the row it stands at. Bind, step until no row comes, reset.
/// Ours is run by `statement`, that of others by `statement_cache`.
///
/// Lifetime: not past its connection.
/// Threads:  its connection's.
class prepared final : public sql_row {
public:
    enum class use : std::uint8_t { once, often };

    prepared() = default;
    static result<prepared> make(sqlite3* database, std::string_view sql, use meant);

    void bind(int index, std::nullptr_t);
    void bind(int index, std::int64_t value);
    void bind(int index, double value);
    /// The text must stay until the statement is reset.
    void bind(int index, std::string_view value);
    void bind(int index, blob value);
    void bind(int index, const uuid& value);
    void bind(int index, const sql_param& value);

    /// True while there is a row.
    result<bool> step();
    /// So that it holds no lock and no bound text.
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
    struct finalizer {
        void operator()(sqlite3_stmt* handle) const noexcept;
    };
    void note_binding(int code);

    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
    bool binding_failed_ = false;
};

}  // namespace posthorn::sqlite
