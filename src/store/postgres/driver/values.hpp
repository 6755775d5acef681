#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/sql.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn::postgres {

/// A payload: two columns, of which one is NULL. Text is kept as text, and what cannot be as bytes.
struct payload_bytes {
    std::string_view bytes;
};

/// The values of a statement's parameters, as libpq takes them.
///
/// Numbers and texts travel as text without a type, so that the server finds the type by where they
/// stand; bytes travel as they are.
///
/// Lifetime: keeps copies of what it is given, but for bytes.
class values {
public:
    values() = default;
    values(values&&) = default;
    values& operator=(values&&) = default;
    template <class... Args>
    static values of(const Args&... args) {
        values made;
        (made.add(args), ...);
        return made;
    }

    void add(std::nullptr_t);
    void add(std::int64_t number);
    void add(bool yes) { add(std::int64_t{yes}); }
    void add(double number);
    void add(std::string_view text);
    void add(const std::string& text) { add(std::string_view(text)); }
    void add(const char* text) { add(std::string_view(text)); }
    void add(blob bytes);
    void add(const payload_bytes& payload);
    void add(const uuid& id);
    /// As an array of bigint.
    void add(std::span<const std::int64_t> numbers);
    void add(const std::vector<std::int64_t>& numbers) { add(std::span(numbers)); }
    /// As an array of text.
    void add(const std::vector<std::string>& texts);
    void add(const sql_param& value);
    template <class T>
    void add(const std::optional<T>& value) {
        if (value)
            add(*value);
        else
            add(nullptr);
    }

    [[nodiscard]] int size() const noexcept { return static_cast<int>(data_.size()); }
    [[nodiscard]] const char* const* data() const noexcept { return data_.data(); }
    [[nodiscard]] const int* lengths() const noexcept { return lengths_.data(); }
    [[nodiscard]] const int* formats() const noexcept { return formats_.data(); }
    [[nodiscard]] const unsigned* types() const noexcept { return types_.data(); }
    /// Text that the server cannot hold: it would end at the first zero byte.
    [[nodiscard]] bool has_zero_byte() const noexcept { return has_zero_byte_; }
    /// Bytes that the caller owns and has to keep.
    [[nodiscard]] bool has_borrowed() const noexcept { return has_borrowed_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    void keep(std::string text);

    std::deque<std::string> kept_;  // Its elements never move.
    std::vector<const char*> data_;
    std::vector<int> lengths_;
    std::vector<int> formats_;
    std::vector<unsigned> types_;
    std::size_t bytes_ = 0;
    bool has_zero_byte_ = false;
    bool has_borrowed_ = false;
};

/// Text as PostgreSQL can hold it: UTF-8 without zero bytes.
[[nodiscard]] std::string storable(std::string_view text);
[[nodiscard]] bool is_storable(std::string_view text);

}  // namespace posthorn::postgres
