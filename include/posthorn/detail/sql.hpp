#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace posthorn {

/// Bytes that are not text.
struct blob {
    std::span<const std::byte> bytes;
};

/// A value given to a statement. It refers to text and bytes; it does not copy them.
using sql_param = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, blob>;

/// What can be given to a statement: numbers, bool, text, blobs, nullptr, and optional ones of
/// these.
template <class T>
[[nodiscard]] sql_param to_sql_param(const T& value) {
    if constexpr (std::is_same_v<T, std::nullptr_t> || std::is_same_v<T, blob>) {
        return value;
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<double>(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        return std::string_view(value);
    } else if constexpr (requires {
                             value.has_value();
                             *value;
                         }) {
        return value.has_value() ? to_sql_param(*value) : sql_param(nullptr);
    } else {
        static_assert(!sizeof(T), "give a number, a bool, text, a posthorn::blob or nullptr");
    }
}

enum class sql_kind : std::uint8_t { null, integer, real, text, blob };

/// One row of a query, valid until the next one is read.
class sql_row {
public:
    virtual ~sql_row() = default;

    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual std::string_view name(std::size_t column) const = 0;
    [[nodiscard]] virtual sql_kind kind(std::size_t column) const = 0;
    [[nodiscard]] virtual bool is_null(std::size_t column) const = 0;
    [[nodiscard]] virtual std::int64_t integer(std::size_t column) const = 0;
    [[nodiscard]] virtual double real(std::size_t column) const = 0;
    [[nodiscard]] virtual std::string_view text(std::size_t column) const = 0;
    [[nodiscard]] virtual std::span<const std::byte> bytes(std::size_t column) const = 0;

    /// The column as a C++ value; NULL gives an empty optional, otherwise zero or empty text.
    template <class T>
    [[nodiscard]] T get(std::size_t column) const {
        if constexpr (std::is_same_v<T, bool>) {
            return integer(column) != 0;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(integer(column));
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(real(column));
        } else if constexpr (std::is_same_v<T, std::string>) {
            return std::string(text(column));
        } else {
            using inner = typename T::value_type;
            return is_null(column) ? T{} : T{get<inner>(column)};
        }
    }
};

}  // namespace posthorn
