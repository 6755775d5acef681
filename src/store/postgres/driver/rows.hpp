#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <posthorn/detail/sql.hpp>

#include "base/result.hpp"

struct pg_result;

namespace posthorn::postgres {

/// One row of an answer.
///
/// Lifetime: not past the answer it is of.
class row final : public sql_row {
public:
    row(const pg_result* answer, int index) : answer_(answer), index_(index) {}

    [[nodiscard]] std::size_t size() const override;
    [[nodiscard]] std::string_view name(std::size_t column) const override;
    [[nodiscard]] sql_kind kind(std::size_t column) const override;
    [[nodiscard]] bool is_null(std::size_t column) const override;
    [[nodiscard]] std::int64_t integer(std::size_t column) const override;
    [[nodiscard]] double real(std::size_t column) const override;
    [[nodiscard]] std::string_view text(std::size_t column) const override;
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t column) const override;

private:
    [[nodiscard]] std::string_view raw(std::size_t column) const;

    const pg_result* answer_;
    int index_;
    /// Bytes that came as hexadecimal digits, by column.
    mutable std::vector<std::unique_ptr<std::string>> decoded_;
};

/// The whole answer to a statement.
///
/// Threads: one at a time.
class rows {
public:
    rows() = default;
    explicit rows(pg_result* answer) : answer_(answer) {}

    [[nodiscard]] int size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// None for a statement that gives no rows, whatever happened.
    [[nodiscard]] int columns() const;
    [[nodiscard]] row operator[](int index) const { return {answer_.get(), index}; }
    [[nodiscard]] row front() const { return (*this)[0]; }
    /// The next row, which is valid until the one after it is asked for; null after the last.
    result<const row*> next() {
        if (next_ >= size()) return nullptr;
        return &at_.emplace((*this)[next_++]);
    }
    /// Visits all that are left.
    template <class Visitor>
    result<> each(Visitor visit) {
        while (next_ < size()) visit((*this)[next_++]);
        return {};
    }
    /// How many rows the statement changed; zero for those that change none.
    [[nodiscard]] std::int64_t changed() const;
    /// What the server says that it did, such as `COMMIT`.
    [[nodiscard]] std::string_view done() const;

private:
    struct clearer {
        void operator()(pg_result* answer) const noexcept;
    };
    std::unique_ptr<pg_result, clearer> answer_;
    std::optional<row> at_;
    int next_ = 0;
};

}  // namespace posthorn::postgres
