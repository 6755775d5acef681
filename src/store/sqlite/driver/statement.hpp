#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "store/sqlite/driver/connection.hpp"
#include "store/statements/statement_text.hpp"

namespace posthorn::sqlite {

/// What a statement gives, row by row: each is read when it is asked for.
///
/// Lifetime: until the statement is run again; the statement is reset with it, or at the last row.
class rows {
public:
    rows() = default;
    rows(rows&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), changed_(other.changed_), ahead_(other.ahead_) {}
    rows& operator=(rows&&) = delete;
    ~rows() {
        if (at_ != nullptr) at_->reset();
    }

    /// There is no row, or none any more.
    [[nodiscard]] bool empty() const noexcept { return at_ == nullptr; }
    /// The row it stands at.
    [[nodiscard]] const prepared& front() const {
        POSTHORN_ASSERT(at_ != nullptr);
        return *at_;
    }
    /// How many rows the statement changed; for those that change some and give none.
    [[nodiscard]] std::int64_t changed() const noexcept { return changed_; }

    /// The next row, which is valid until the one after it is asked for; null after the last.
    result<const prepared*> next();
    /// Visits all that are left. A statement that changes rows and gives them has done its work
    /// only after that.
    template <class Visitor>
    result<> each(Visitor visit) {
        for (;;) {
            POSTHORN_LET(row, next());
            if (row == nullptr) return {};
            visit(*row);
        }
    }

private:
    friend class statement;
    explicit rows(prepared& at) : at_(&at), ahead_(true) {}
    explicit rows(std::int64_t changed) : changed_(changed) {}

    prepared* at_ = nullptr;
    std::int64_t changed_ = 0;
    bool ahead_ = false;  // It stands at a row that was not asked for.
};

/// A statement of ours, which is prepared the first time it is used, and kept.
///
/// Lifetime: not past its connection. Its text is not copied: it is a constant.
/// Threads:  its connection's.
class statement {
public:
    statement(connection& on, std::string_view sql)
        : on_(on.handle()), sql_(sql), meant_(prepared::use::often) {
        if (made_here() != nullptr) made_here()->push_back(sql);
    }
    statement(connection& on, const statement_text& of) : statement(on, of.sqlite) {}
    /// On a handle that is not ours.
    statement(sqlite3* on, std::string_view sql)
        : on_(on), sql_(sql), meant_(prepared::use::once) {}
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    /// Runs it up to its first row, or to its end if it gives none. An optional without a value is
    /// NULL. Text and bytes are not copied: they stay until the rows are gone.
    template <class... Args>
    result<rows> run(Args&&... args) {
        static_assert((!is_lost_text<Args&&> && ...), "the text would be gone before the rows");
        if (!prepared_) POSTHORN_TRY(prepare());
        int index = 0;
        (bind(++index, args), ...);
        return begin();
    }

    /// For tests: where the texts of those go that this thread makes on connections of ours. Null,
    /// unless one has set it.
    static std::vector<std::string_view>*& made_here() noexcept;

    /// Whether it has just failed because a unique key is there already.
    [[nodiscard]] bool hit_a_unique_key() const noexcept;
    /// The number of the row that it has just inserted.
    [[nodiscard]] std::int64_t inserted() const noexcept;

private:
    template <class Arg>
    static constexpr bool is_lost_text = std::same_as<Arg, std::string&&>;

    template <class T>
    void bind(int index, const T& value) {
        if constexpr (std::integral<T>)
            prepared_.bind(index, static_cast<std::int64_t>(value));
        else if constexpr (std::is_convertible_v<const T&, std::string_view>)
            prepared_.bind(index, std::string_view(value));
        else
            prepared_.bind(index, value);
    }
    template <class T>
    void bind(int index, const std::optional<T>& value) {
        if (value) bind(index, *value);  // What is not bound is NULL.
    }
    result<> prepare();
    result<rows> begin();

    sqlite3* on_;
    std::string_view sql_;
    prepared::use meant_;
    prepared prepared_;
};

/// What a table that is written once for all stores is made of.
struct driver {
    using connection = sqlite::connection;
    using statement = sqlite::statement;
    using rows = sqlite::rows;

    /// Of what is said for each database, what is said for this one.
    [[nodiscard]] static auto own(const auto& said) { return said.sqlite; }
    /// Runs it; what it gives is of no interest.
    template <class... Args>
    static result<> now(statement& one, const Args&... args) {
        POSTHORN_TRY(one.run(args...));
        return {};
    }
    template <class... Args>
    static result<> soon(statement& one, const Args&... args) {
        return now(one, args...);
    }
    /// Inserts a row, unless its key is there; gives its number.
    template <class... Args>
    static result<std::optional<std::int64_t>> insert_new(statement& one, const Args&... args) {
        auto done = one.run(args...);
        if (!done && !one.hit_a_unique_key()) return std::unexpected(std::move(done).error());
        if (!done || done->changed() == 0) return std::nullopt;
        return one.inserted();
    }
    /// Rows are deleted one by one: a single statement over many could not be stopped in time where
    /// they are large, without losing what it had done.
    static constexpr std::size_t rows_per_delete = 1;
    [[nodiscard]] static std::int64_t numbers(std::span<const std::int64_t> of) {
        POSTHORN_ASSERT(of.size() == rows_per_delete);
        return of.front();
    }
    /// Text as the database can hold it.
    [[nodiscard]] static std::string_view storable(std::string_view text) { return text; }
    /// What the columns of a payload are given. Refers to the text.
    [[nodiscard]] static std::string_view payload(std::string_view bytes) { return bytes; }
    /// What a column of bytes is given; nothing if it is empty. Refers to the text.
    [[nodiscard]] static std::optional<std::string_view> bytes_or_null(std::string_view text) {
        return text.empty() ? std::nullopt : std::optional(text);
    }
};

}  // namespace posthorn::sqlite
