#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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

    /// The column as a C++ value, as the database converts it; NULL gives an empty optional,
    /// otherwise zero or empty text. A number beyond the type is its nearest.
    template <class T>
    [[nodiscard]] T get(std::size_t column) const {
        if constexpr (std::is_same_v<T, bool>) {
            return integer(column) != 0;
        } else if constexpr (std::is_integral_v<T>) {
            const auto value = integer(column);
            if (std::in_range<T>(value)) return static_cast<T>(value);
            return value < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
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

namespace detail {

/// The values of a statement: given one by one, or as a span of as many as there turn out to be.
template <class... Args>
[[nodiscard]] std::array<sql_param, sizeof...(Args)> sql_params(const Args&... args) {
    return {to_sql_param(args)...};
}
inline std::span<const sql_param> sql_params(std::span<const sql_param> given) { return given; }

/// Throw `error_code::statement_failed`, which names the column, what it holds and what was wanted.
[[noreturn]] void fail_column(const sql_row& row, std::size_t column, std::string_view wanted);
void require_columns(const sql_row& row, std::size_t wanted);

inline void require_kind(const sql_row& row, std::size_t column, sql_kind wanted,
                         std::string_view named) {
    if (row.kind(column) != wanted) fail_column(row, column, named);
}

/// A column as exactly the type that was asked for, or an error.
template <class T>
[[nodiscard]] T read_column(const sql_row& row, std::size_t column) {
    if constexpr (std::is_same_v<T, bool>) {
        require_kind(row, column, sql_kind::integer, "a bool");
        return row.integer(column) != 0;
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<T>(read_column<std::underlying_type_t<T>>(row, column));
    } else if constexpr (std::is_integral_v<T>) {
        require_kind(row, column, sql_kind::integer, "an integer");
        const auto value = row.integer(column);
        if (!std::in_range<T>(value)) fail_column(row, column, "an integer of a narrower type");
        return static_cast<T>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        if (row.kind(column) != sql_kind::integer)
            require_kind(row, column, sql_kind::real, "a real number");
        return static_cast<T>(row.real(column));
    } else if constexpr (std::is_same_v<T, std::string>) {
        require_kind(row, column, sql_kind::text, "text");
        return std::string(row.text(column));
    } else if constexpr (std::is_same_v<T, std::vector<std::byte>>) {
        require_kind(row, column, sql_kind::blob, "a blob");
        const auto bytes = row.bytes(column);
        return {bytes.begin(), bytes.end()};
    } else if constexpr (requires(T some) {
                             typename T::value_type;
                             some.has_value();
                         }) {
        if (row.is_null(column)) return {};
        return read_column<typename T::value_type>(row, column);
    } else {
        static_assert(!sizeof(T),
                      "posthorn: a column is read as a number, bool, enumeration, std::string, "
                      "std::vector<std::byte> or std::optional of one of these");
        fail_column(row, column, "another type");
    }
}

template <class... Columns>
[[nodiscard]] std::tuple<Columns...> read_row(const sql_row& row) {
    require_columns(row, sizeof...(Columns));
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        return std::tuple<Columns...>{read_column<Columns>(row, Index)...};
    }(std::index_sequence_for<Columns...>{});
}

[[noreturn]] void fail_second_row();

}  // namespace detail

}  // namespace posthorn
