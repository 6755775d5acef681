#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

/// The fields of plain aggregates, as the compiler knows them: how many there are, what they are
/// called, and references to them. No macro is needed for these.
namespace posthorn {

struct raw_json;

// `somewhere` is declared and never defined, since only its address is looked at.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

namespace detail {

/// How many fields are bound below. Structs with more are described by a macro.
inline constexpr std::size_t reflected_max = 24;

/// Becomes whatever a field of `T` is. It does not become a `T`, which would be a copy.
template <class T>
struct any_field {
    template <class Field>
        requires(!std::is_base_of_v<Field, T>)
    operator Field() const {  // NOLINT(google-explicit-constructor): never called.
        __builtin_unreachable();
    }
};
template <class T>
struct any_base {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>)
    operator Base() const {  // NOLINT(google-explicit-constructor): never called.
        __builtin_unreachable();
    }
};

template <class T, std::size_t... Index>
consteval bool takes_values(std::index_sequence<Index...>) {
    return requires { T{(static_cast<void>(Index), any_field<T>{})...}; };
}
/// Whether an aggregate can be made of so many values, so that it has at least as many fields.
template <class T, std::size_t Count>
inline constexpr bool has_fields = takes_values<T>(std::make_index_sequence<Count>{});

template <class T>
inline constexpr bool has_bases = requires { T{any_base<T>{}}; };

/// Up to one more than can be bound.
template <class T>
inline constexpr std::size_t field_count = []<std::size_t... Count>(std::index_sequence<Count...>) {
    std::size_t largest = 0;
    ((has_fields<T, Count> ? largest = Count : largest), ...);
    return largest;
}(std::make_index_sequence<reflected_max + 2>{});

template <class T>
concept plain_aggregate =
    std::is_class_v<T> && std::is_aggregate_v<T> && !std::same_as<T, raw_json> &&
    !std::same_as<T, std::monostate> && !requires { std::tuple_size<T>::value; };

/// Structs whose fields are known without a description.
template <class T>
concept reflectable = plain_aggregate<T> && !has_bases<T> && field_count<T> <= reflected_max;

// clang-format off
#define POSTHORN_BIND(count, ...) \
    else if constexpr (field_count<std::remove_const_t<T>> == (count)) { \
        auto& [__VA_ARGS__] = of; \
        return std::tie(__VA_ARGS__); \
    }
/// References to all fields, in their order.
template <class T>
constexpr auto tie_fields(T& of) {
    if constexpr (field_count<std::remove_const_t<T>> == 0) return std::tuple<>{};
    POSTHORN_BIND(1, a)
    POSTHORN_BIND(2, a, b)
    POSTHORN_BIND(3, a, b, c)
    POSTHORN_BIND(4, a, b, c, d)
    POSTHORN_BIND(5, a, b, c, d, e)
    POSTHORN_BIND(6, a, b, c, d, e, f)
    POSTHORN_BIND(7, a, b, c, d, e, f, g)
    POSTHORN_BIND(8, a, b, c, d, e, f, g, h)
    POSTHORN_BIND(9, a, b, c, d, e, f, g, h, i)
    POSTHORN_BIND(10, a, b, c, d, e, f, g, h, i, j)
    POSTHORN_BIND(11, a, b, c, d, e, f, g, h, i, j, k)
    POSTHORN_BIND(12, a, b, c, d, e, f, g, h, i, j, k, l)
    POSTHORN_BIND(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    POSTHORN_BIND(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    POSTHORN_BIND(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    POSTHORN_BIND(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    POSTHORN_BIND(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    POSTHORN_BIND(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    POSTHORN_BIND(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    POSTHORN_BIND(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    POSTHORN_BIND(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    POSTHORN_BIND(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    POSTHORN_BIND(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    POSTHORN_BIND(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
}
#undef POSTHORN_BIND
// clang-format on

/// Never there: only the addresses of its fields are taken, by which the compiler names them.
template <class T>
struct nowhere {
    T value;
};
template <class T>
extern const nowhere<T> somewhere;

template <class Address>
struct address_of_field {
    Address address;
};

template <address_of_field Which>
consteval std::string_view spelled_field() {
    return __PRETTY_FUNCTION__;  // "… {&somewhere.value.order_id}]", with GCC more around it.
}

constexpr bool is_in_a_name(char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

consteval std::string_view last_name_before(std::string_view text, std::size_t end) {
    while (end > 0 && !is_in_a_name(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_in_a_name(text[begin - 1])) --begin;
    return text.substr(begin, end - begin);
}

/// A field's name in the source.
template <class T, std::size_t Index>
consteval std::string_view field_name() {
    constexpr address_of_field which{&std::get<Index>(tie_fields(somewhere<T>.value))};
    constexpr std::string_view text = spelled_field<which>();
    return last_name_before(text, text.rfind('}'));
}

/// A type's name in the source, without what it is in.
template <class T>
consteval std::string_view type_name() {
    constexpr std::string_view text = __PRETTY_FUNCTION__;  // "… [T = shop::line]"
    return last_name_before(text, text.find_first_of(";]", text.find("T = ")));
}

}  // namespace detail

#ifdef __clang__
#pragma clang diagnostic pop
#endif

}  // namespace posthorn
