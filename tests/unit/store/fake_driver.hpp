#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <posthorn/detail/sql.hpp>
#include <posthorn/uuid.hpp>

#include "base/assert.hpp"
#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "store/statements/statement_text.hpp"

namespace posthorn::test {

/// A row of what a test says.
class fake_row final : public sql_row {
public:
    using value = std::variant<std::nullptr_t, std::int64_t, std::string>;

    explicit fake_row(std::vector<value> columns) : columns_(std::move(columns)) {}

    [[nodiscard]] std::size_t size() const override { return columns_.size(); }
    [[nodiscard]] std::string_view name(std::size_t) const override { return ""; }
    [[nodiscard]] sql_kind kind(std::size_t at) const override {
        constexpr std::array kinds{sql_kind::null, sql_kind::integer, sql_kind::text};
        return kinds.at(columns_.at(at).index());
    }
    [[nodiscard]] bool is_null(std::size_t at) const override { return kind(at) == sql_kind::null; }
    [[nodiscard]] std::int64_t integer(std::size_t at) const override {
        const auto* const number = std::get_if<std::int64_t>(&columns_.at(at));
        return number == nullptr ? 0 : *number;
    }
    [[nodiscard]] double real(std::size_t at) const override {
        return static_cast<double>(integer(at));
    }
    [[nodiscard]] std::string_view text(std::size_t at) const override {
        const auto* const text = std::get_if<std::string>(&columns_.at(at));
        return text == nullptr ? std::string_view{} : *text;
    }
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t at) const override {
        return std::as_bytes(std::span(text(at)));
    }

private:
    std::vector<value> columns_;
};

class fake_rows {
public:
    fake_rows() = default;
    explicit fake_rows(std::vector<fake_row> all) : all_(std::move(all)) {}
    explicit fake_rows(std::int64_t changed) : changed_(changed) {}

    [[nodiscard]] bool empty() const { return all_.empty(); }
    [[nodiscard]] const fake_row& front() const { return all_.at(0); }
    [[nodiscard]] std::int64_t changed() const { return changed_; }
    result<const fake_row*> next() {
        if (at_ == all_.size()) return nullptr;
        return &all_[at_++];
    }
    template <class Visitor>
    result<> each(Visitor visit) {
        while (at_ < all_.size()) visit(all_[at_++]);
        return {};
    }

private:
    std::vector<fake_row> all_;
    std::int64_t changed_ = 0;
    std::size_t at_ = 0;
};

/// A database for which a test answers. What a statement is called there is its text.
struct fake_connection {
    std::vector<std::string> asked{};  // As `name(first, second)`.
    /// First to last; the last one stays. None: no rows, and nothing changed.
    std::map<std::string, std::deque<result<fake_rows>>, std::less<>> answers{};

    void answer(const std::string& name, std::vector<fake_row::value> row) {
        std::vector<fake_row> rows;
        rows.emplace_back(std::move(row));
        answers[name].push_back(fake_rows(std::move(rows)));
    }
    void answer_rows(const std::string& name, std::vector<std::vector<fake_row::value>> all) {
        std::vector<fake_row> rows;
        for (auto& each : all) rows.emplace_back(std::move(each));
        answers[name].push_back(fake_rows(std::move(rows)));
    }
    void change(const std::string& name, std::int64_t rows) {
        answers[name].push_back(fake_rows(rows));
    }
    std::vector<std::string> take() { return std::exchange(asked, {}); }
};

class fake_statement {
public:
    fake_statement(fake_connection& on, std::string_view name) : on_(on), name_(name) {}
    fake_statement(fake_connection& on, const statement_text& of) : fake_statement(on, of.sqlite) {}

    template <class... Args>
    result<fake_rows> run(const Args&... args) {
        std::vector<std::string> texts{to_text(args)...};
        on_.asked.push_back(fmt::format("{}({})", name_, fmt::join(texts, ", ")));
        const auto found = on_.answers.find(name_);
        if (found == on_.answers.end()) return fake_rows();
        auto given = found->second.front();
        if (found->second.size() > 1) found->second.pop_front();
        return given;
    }

private:
    static std::string to_text(const uuid& id) { return id.to_string(); }
    static std::string to_text(const blob& some) {
        return fmt::format("{} bytes", some.bytes.size());
    }
    static std::string to_text(std::span<const std::int64_t> numbers) {
        return fmt::format("[{}]", fmt::join(numbers, " "));
    }
    template <class T>
    static std::string to_text(const T& value) {
        if constexpr (requires { value.has_value(); })
            return value.has_value() ? to_text(*value) : "NULL";
        else if constexpr (std::integral<T>)
            return std::to_string(value);
        else
            return std::string(std::string_view(value));
    }

    fake_connection& on_;
    std::string name_;
};

/// What the tables that are written once for all stores are made of, in their tests.
struct fake_driver {
    using connection = fake_connection;
    using statement = fake_statement;
    using rows = fake_rows;

    [[nodiscard]] static auto own(const auto& said) { return said.sqlite; }
    template <class... Args>
    static result<> now(statement& one, const Args&... args) {
        POSTHORN_TRY(one.run(args...));
        return {};
    }
    template <class... Args>
    static result<> soon(statement& one, const Args&... args) {
        return now(one, args...);
    }
    template <class... Args>
    static result<std::optional<std::int64_t>> insert_new(statement& one, const Args&... args) {
        POSTHORN_LET(inserted, one.run(args...));
        if (inserted.empty()) return std::nullopt;
        return inserted.front().integer(0);
    }
    static constexpr std::size_t rows_per_delete = 3;
    [[nodiscard]] static std::span<const std::int64_t> numbers(std::span<const std::int64_t> of) {
        return of;
    }
    [[nodiscard]] static std::string storable(std::string_view text) { return std::string(text); }
    [[nodiscard]] static std::string_view payload(std::string_view bytes) { return bytes; }
    [[nodiscard]] static std::optional<std::string_view> bytes_or_null(std::string_view text) {
        return text.empty() ? std::nullopt : std::optional(text);
    }
};

/// Notes what is appended, as `kind [seqs]`.
struct fake_log {
    std::vector<std::string> lines{};

    result<> append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time) {
        if (!seqs.empty()) lines.push_back(fmt::format("{} [{}]", kind, fmt::join(seqs, " ")));
        return {};
    }
};

/// A clock that goes on by itself with each look at it, where it is told to.
class fake_clock final : public clock {
public:
    explicit fake_clock(std::chrono::nanoseconds step = {}) : step_(step) {}

    [[nodiscard]] wall_time wall() const override {
        return wall_time{std::chrono::milliseconds{1'000}};
    }
    [[nodiscard]] steady_time steady() const override { return now_ += step_; }

private:
    std::chrono::nanoseconds step_;
    mutable steady_time now_{};
};

}  // namespace posthorn::test
