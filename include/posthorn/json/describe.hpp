#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <posthorn/json/reflect.hpp>

/// Describes types once, so that the compiler can write the rest.
///
/// A plain aggregate of up to 24 fields describes itself. A macro gives fields other names, and is
/// for all other types:
///
///     struct line { std::string sku; int quantity; };
///     POSTHORN_STRUCT(line, sku, (quantity, "qty"))
///
///     enum class colour { red, green };
///     POSTHORN_ENUM(colour, red, (green, "verde"))
///
/// The macros stand in the namespace of the type. Fields travel in camelCase and enumerators under
/// their own names, unless a name is given with them.
namespace posthorn {

/// Text as a template argument.
template <std::size_t Size>
struct fixed_string {
    char text[Size]{};

    // NOLINTNEXTLINE(google-explicit-constructor): "emp" is to be written as it is.
    consteval fixed_string(const char (&from)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
    }
    /// Of one character less than there is room for.
    consteval explicit fixed_string(std::string_view from) {
        for (std::size_t i = 0; i + 1 < Size; ++i) text[i] = from[i];
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

namespace detail {

/// `order_id` as `orderId`; of a type inside another one, the last part of its name.
template <fixed_string Name>
struct camel_case {
    static constexpr auto text = [] {
        std::array<char, sizeof(Name.text)> made{};
        std::size_t size = 0;
        bool raise = false;
        for (const char c : Name.view().substr(Name.view().rfind(':') + 1)) {
            if (c == '_' && size > 0) {
                raise = true;
            } else if (c != '_') {
                made[size++] = raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
                raise = false;
            }
        }
        return made;
    }();
    static constexpr std::string_view view() noexcept { return text.data(); }
};

template <class T>
struct member_of;
template <class Owner, class Value>
struct member_of<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};

consteval bool needs_no_escapes(std::string_view text) {
    for (const char c : text)
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return false;
    return true;
}

/// Keeps a constant text in a type, so that it has an address.
template <fixed_string Name>
struct given_name {
    static_assert(
        needs_no_escapes(Name.view()),
        "posthorn: a name holds a quote, a backslash or a control character; leave it out");
    static constexpr std::string_view view() noexcept { return Name.view(); }
};

}  // namespace detail

/// One field of a described type.
template <auto Member, class Name>
struct field {
    static constexpr std::string_view name = Name::view();
    using value_type = typename detail::member_of<decltype(Member)>::value;

    static constexpr auto& get(auto& of) noexcept { return of.*Member; }
};

/// One enumerator of a described enumeration.
template <auto Value, fixed_string Name>
struct enumerator {
    static constexpr auto value = Value;
    static constexpr std::string_view name = detail::given_name<Name>::view();
};

/// A list of types; no values, so that it costs nothing to pass.
template <class... Items>
struct type_list {
    static constexpr std::size_t size = sizeof...(Items);
};

namespace detail {

/// One field of a plain aggregate.
template <class T, std::size_t Index, class Name>
struct reflected_field {
    static constexpr std::string_view name = Name::view();
    using value_type = std::remove_reference_t<
        std::tuple_element_t<Index, decltype(tie_fields(std::declval<T&>()))>>;

    static constexpr auto& get(auto& of) noexcept { return std::get<Index>(tie_fields(of)); }
};

template <class T, std::size_t Index>
using reflected_field_of = reflected_field<
    T, Index, camel_case<fixed_string<field_name<T, Index>().size() + 1>(field_name<T, Index>())>>;

template <class T>
consteval auto reflect_fields() {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
        return type_list<reflected_field_of<T, Index>...>{};
    }(std::make_index_sequence<field_count<T>>{});
}

template <class T>
using reflected_name = camel_case<fixed_string<type_name<T>().size() + 1>(type_name<T>())>;

/// Those that a macro lists; if it lists none, those that there are.
template <class T, class... Items>
consteval auto listed_fields() {
    if constexpr (sizeof...(Items) == 0 && reflectable<T>)
        return reflect_fields<T>();
    else
        return type_list<Items...>{};
}

/// Whether a macro lists all fields of an aggregate, of which the last ones are missed otherwise.
template <class T, class... Items>
consteval bool lists_all_fields() {
    if constexpr (!plain_aggregate<T> || has_bases<T>)
        return true;  // How many it has is not known.
    else
        return sizeof...(Items) == 0 || !has_fields<T, sizeof...(Items) + 1>;
}

/// Whether there are few enough fields where a macro lists none.
template <class T, class... Items>
consteval bool needs_no_list() {
    if constexpr (sizeof...(Items) > 0 || !plain_aggregate<T>)
        return true;
    else
        return field_count<T> <= reflected_max;
}

/// Structs described by `POSTHORN_STRUCT` or by one of the macros for messages.
template <class T>
concept macro_described = requires(const T* any) { posthorn_fields(any); };

template <class T>
struct fields_found {
    using type = decltype(reflect_fields<T>());
};
template <macro_described T>
struct fields_found<T> {
    using type = decltype(posthorn_fields(static_cast<const T*>(nullptr)));
};

}  // namespace detail

/// Structs whose fields are known: described by a macro, or plain aggregates.
template <class T>
concept described_struct = detail::macro_described<T> || detail::reflectable<T>;

template <class T>
concept described_enum = requires(const T* any) { posthorn_enumerators(any); };

template <class T>
using fields_of = typename detail::fields_found<T>::type;
template <class T>
using enumerators_of = decltype(posthorn_enumerators(static_cast<const T*>(nullptr)));

namespace detail {

/// The names of a list's fields or enumerators, and the values of the latter.
template <class List>
inline constexpr std::array<std::string_view, 0> item_names{};
template <class... Items>
inline constexpr std::array<std::string_view, sizeof...(Items)> item_names<type_list<Items...>>{
    Items::name...};
consteval bool names_differ(const auto& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (names[i] == names[j]) return false;
    return true;
}
template <class List>
inline constexpr int enumerator_values = 0;
template <class... Items>
inline constexpr std::array enumerator_values<type_list<Items...>>{Items::value...};

}  // namespace detail

}  // namespace posthorn

// What follows repeats a macro over its arguments: at most 64 of them, far more than a message has.
#define POSTHORN_PARENS ()
#define POSTHORN_EXPAND(...) POSTHORN_EXPAND3(POSTHORN_EXPAND3(POSTHORN_EXPAND3(__VA_ARGS__)))
#define POSTHORN_EXPAND3(...) POSTHORN_EXPAND2(POSTHORN_EXPAND2(POSTHORN_EXPAND2(__VA_ARGS__)))
#define POSTHORN_EXPAND2(...) POSTHORN_EXPAND1(POSTHORN_EXPAND1(POSTHORN_EXPAND1(__VA_ARGS__)))
#define POSTHORN_EXPAND1(...) POSTHORN_EXPAND0(POSTHORN_EXPAND0(POSTHORN_EXPAND0(__VA_ARGS__)))
#define POSTHORN_EXPAND0(...) __VA_ARGS__
#define POSTHORN_LIST(make, type, ...) \
    __VA_OPT__(POSTHORN_EXPAND(POSTHORN_LIST_ONE(make, type, __VA_ARGS__)))
#define POSTHORN_LIST_ONE(make, type, first, ...) \
    make(type, first) __VA_OPT__(, POSTHORN_LIST_MORE POSTHORN_PARENS(make, type, __VA_ARGS__))
#define POSTHORN_LIST_MORE() POSTHORN_LIST_ONE
#define POSTHORN_ITEMS(type, ...) __VA_OPT__(, ) POSTHORN_LIST(POSTHORN_FIELD, type, __VA_ARGS__)

// Chooses by whether an item is `name` or `(name, "given")`.
#define POSTHORN_SECOND(first, second, ...) second
#define POSTHORN_PAIR_PROBE(...) ~, PAIR
#define POSTHORN_CHOOSE(...) POSTHORN_SECOND(__VA_ARGS__)
#define POSTHORN_JOIN(a, b) POSTHORN_JOIN1(a, b)
#define POSTHORN_JOIN1(a, b) a##b
#define POSTHORN_KIND(item) POSTHORN_CHOOSE(POSTHORN_PAIR_PROBE item, PLAIN, ~)

// Not one of the macros above: inside of them it would not be expanded again.
#define POSTHORN_UNPACK(...) __VA_ARGS__

#define POSTHORN_FIELD(type, item) POSTHORN_JOIN(POSTHORN_FIELD_, POSTHORN_KIND(item))(type, item)
#define POSTHORN_FIELD_PLAIN(type, name) \
    ::posthorn::field<&type::name, ::posthorn::detail::camel_case<#name>>
#define POSTHORN_FIELD_PAIR(type, pair) POSTHORN_FIELD_NAMED(type, POSTHORN_UNPACK pair)
#define POSTHORN_FIELD_NAMED(...) POSTHORN_FIELD_NAMED1(__VA_ARGS__)
#define POSTHORN_FIELD_NAMED1(type, name, given) \
    ::posthorn::field<&type::name, ::posthorn::detail::given_name<(given)>>

#define POSTHORN_VALUE(type, item) POSTHORN_JOIN(POSTHORN_VALUE_, POSTHORN_KIND(item))(type, item)
#define POSTHORN_VALUE_PLAIN(type, name) ::posthorn::enumerator<type::name, #name>
#define POSTHORN_VALUE_PAIR(type, pair) POSTHORN_VALUE_NAMED(type, POSTHORN_UNPACK pair)
#define POSTHORN_VALUE_NAMED(...) POSTHORN_VALUE_NAMED1(__VA_ARGS__)
#define POSTHORN_VALUE_NAMED1(type, name, given) ::posthorn::enumerator<type::name, given>

// Defined, though never called: GCC warns of what is declared alone in a namespace without a name.
#define POSTHORN_TELLS(function, type, ...) \
    [[maybe_unused]] constexpr __VA_ARGS__ function(const type*) noexcept { return {}; }

#define POSTHORN_IN_ITS_NAMESPACE(is)                                                              \
    static_assert(                                                                                 \
        is,                                                                                        \
        "posthorn: this type is described outside of its namespace, where nothing finds it; move " \
        "the macro there");

/// A struct that messages are made of: `POSTHORN_STRUCT(type, fields…)`.
#define POSTHORN_STRUCT(type, ...)                                                               \
    POSTHORN_TELLS(                                                                              \
        posthorn_fields, type,                                                                   \
        decltype(::posthorn::detail::listed_fields<type POSTHORN_ITEMS(type, __VA_ARGS__)>()))   \
    POSTHORN_TELLS(posthorn_name, type, ::posthorn::detail::camel_case<#type>)                   \
    POSTHORN_IN_ITS_NAMESPACE(::posthorn::detail::macro_described<type>)                         \
    static_assert(                                                                               \
        ::posthorn::detail::lists_all_fields<type POSTHORN_ITEMS(type, __VA_ARGS__)>(),          \
        "posthorn: a field of this struct is not in its description, so it would get lost; add " \
        "it, or list no field at all");                                                          \
    static_assert(::posthorn::detail::needs_no_list<type POSTHORN_ITEMS(type, __VA_ARGS__)>(),   \
                  "posthorn: a struct of more than 24 fields is described only if they are "     \
                  "listed; add them to the macro, or nest them");

/// An enumeration whose values travel by name.
#define POSTHORN_ENUM(type, ...)                                                            \
    POSTHORN_TELLS(posthorn_enumerators, type,                                              \
                   ::posthorn::type_list<POSTHORN_LIST(POSTHORN_VALUE, type, __VA_ARGS__)>) \
    POSTHORN_TELLS(posthorn_name, type, ::posthorn::detail::camel_case<#type>)              \
    POSTHORN_IN_ITS_NAMESPACE(::posthorn::described_enum<type>)
