#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include <posthorn/json/describe.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

/// JSON that is carried as it is.
struct raw_json {
    std::string text = "null";
    bool operator==(const raw_json&) const = default;
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool is_map<std::map<std::string, T, std::less<>>> = true;
template <class T>
inline constexpr bool is_map<std::unordered_map<std::string, T>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

template <class T>
concept json_integer =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
    !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
    !std::same_as<T, char32_t> && sizeof(T) <= sizeof(std::int64_t);
template <class T>
concept json_real = std::same_as<T, float> || std::same_as<T, double>;

/// Durations of whole seconds and more, or of parts that nanoseconds are made of.
template <class T>
inline constexpr bool is_duration = false;
template <std::signed_integral Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> =
    Period::den == 1 || (Period::num == 1 && 1'000'000'000 % Period::den == 0);

template <class T>
inline constexpr bool is_time = false;
template <class D>
inline constexpr bool is_time<std::chrono::sys_time<D>> = is_duration<D>;

template <class T>
concept json_plain =
    std::same_as<T, std::string> || std::same_as<T, bool> || json_integer<T> || json_real<T> ||
    described_enum<T> || is_time<T> || is_duration<T> || std::same_as<T, uuid> ||
    std::same_as<T, raw_json> || std::same_as<T, std::monostate>;

/// What an alternative of a variant is called in `{"name": value}`.
template <class T>
constexpr std::string_view alternative_name() {
    if constexpr (macro_described<T> || described_enum<T>)
        return decltype(posthorn_name(static_cast<const T*>(nullptr)))::view();
    else if constexpr (described_struct<T>)
        return reflected_name<T>::view();
    else if constexpr (std::same_as<T, std::string>)
        return "text";
    else if constexpr (std::same_as<T, bool>)
        return "boolean";
    else if constexpr (json_integer<T>)
        return "integer";
    else if constexpr (json_real<T>)
        return "number";
    else if constexpr (is_time<T>)
        return "time";
    else if constexpr (is_duration<T>)
        return "duration";
    else if constexpr (std::same_as<T, uuid>)
        return "uuid";
    else if constexpr (is_vector<T>)
        return "array";
    else if constexpr (is_map<T>)
        return "map";
    else if constexpr (std::same_as<T, std::monostate>)
        return "none";
    else
        return "json";
}

// Whether a type can travel, and why not. Structs that enclose it come after it, so that one that
// contains itself ends the search instead of going on for ever.
enum class fit : unsigned char {
    good,
    bad,         // Of a type that JSON has nothing for.
    cyclic,      // Contains itself.
    constant,    // A field that cannot be written.
    no_default,  // Cannot be made, to be read into.
    same_names,  // Two fields or enumerators could not be told apart.
    too_many     // More fields than the decoder keeps in mind.
};

inline constexpr std::size_t fields_max = 64;

template <class T>
inline constexpr bool field_names_differ = names_differ(item_names<fields_of<T>>);
template <class T>
inline constexpr bool enumerator_names_differ = names_differ(item_names<enumerators_of<T>>);

template <class T, class... Above>
consteval fit fit_of();

consteval fit worse(fit a, fit b) { return a == fit::good ? b : a; }

template <class... Above>
struct fit_below {
    template <class... Items>
    static consteval fit of_fields(type_list<Items...>) {
        fit found = fit::good;
        ((found = worse(found, fit_of<typename Items::value_type, Above...>())), ...);
        return found;
    }
    template <class... Items>
    static consteval fit of_variant(const std::variant<Items...>*) {
        fit found = fit::good;
        ((found = worse(found, fit_of<Items, Above...>())), ...);
        constexpr std::array names{alternative_name<Items>()...};
        for (std::size_t i = 0; i < names.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (names[i] == names[j]) found = worse(found, fit::bad);
        return found;
    }
};

template <class T, class... Above>
consteval fit fit_of() {
    if constexpr ((std::same_as<T, Above> || ...)) {
        return fit::cyclic;
    } else if constexpr (std::is_const_v<T>) {
        return fit::constant;
    } else if constexpr (described_enum<T>) {
        return enumerator_names_differ<T> ? fit::good : fit::same_names;
    } else if constexpr (json_plain<T>) {
        return fit::good;
    } else if constexpr (is_optional<T>) {
        // An optional optional could not say which of the two is empty.
        if constexpr (is_optional<typename T::value_type>)
            return fit::bad;
        else
            return fit_of<typename T::value_type, Above...>();
    } else if constexpr (is_vector<T>) {
        return fit_of<typename T::value_type, Above...>();
    } else if constexpr (is_map<T>) {
        return fit_of<typename T::mapped_type, Above...>();
    } else if constexpr (is_variant<T>) {
        return fit_below<Above...>::of_variant(static_cast<const T*>(nullptr));
    } else if constexpr (described_struct<T>) {
        if constexpr (fields_of<T>::size > fields_max)
            return fit::too_many;
        else if constexpr (!field_names_differ<T>)
            return fit::same_names;
        else  // What its fields say of it is nearer to the mistake.
            return worse(fit_below<T, Above...>::of_fields(fields_of<T>{}),
                         std::is_default_constructible_v<T> ? fit::good : fit::no_default);
    } else {
        return fit::bad;
    }
}

template <class T>
inline constexpr bool contains_itself = fit_of<T>() == fit::cyclic;

}  // namespace detail

/// What can be a payload, or a part of one.
template <class T>
concept json_type = detail::fit_of<T>() == detail::fit::good;

namespace detail {

/// What a field holds, inside of the containers around it.
template <class T>
struct innermost {
    using type = T;
};
template <class T>
    requires(is_optional<T> || is_vector<T>)
struct innermost<T> : innermost<typename T::value_type> {};
template <class T>
    requires is_map<T>
struct innermost<T> : innermost<typename T::mapped_type> {};

template <class T>
concept described = described_struct<T> || described_enum<T>;

/// Named by the error, so that it says which field it is about.
template <class Field>
inline constexpr bool can_travel = fit_of<typename Field::value_type>() != fit::bad;
template <class Field>
inline constexpr bool can_be_read = !std::is_const_v<typename Field::value_type>;
template <class T>
inline constexpr bool has_few_enough_fields = fields_of<T>::size <= fields_max;

/// Stops the build with one line that says what to change in a described type that does not fit.
template <class T, class... Above>
consteval void explain();

template <class Field, class... Above>
consteval void explain_field() {
    using inner = typename innermost<typename Field::value_type>::type;
    static_assert(can_be_read<Field>,
                  "posthorn: this field is const, so that it cannot be read from a message; drop "
                  "the const");
    if constexpr (described<inner> && fit_of<inner>() != fit::good)
        explain<inner, Above...>();  // Names what is wrong inside.
    else
        static_assert(can_travel<Field>,
                      "posthorn: this field cannot be serialised; make its type a plain aggregate, "
                      "describe it with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, "
                      "bool, optional, vector, map, variant (of types with different names), "
                      "chrono, posthorn::uuid or posthorn::raw_json");
}

template <class T, class... Above>
consteval void explain() {
    if constexpr ((std::same_as<T, Above> || ...)) {
        // Its other mistake is named first.
    } else if constexpr (described_enum<T>) {
        static_assert(enumerator_names_differ<T>,
                      "posthorn: two enumerators of this enumeration have the same name; rename "
                      "one");
    } else {
        static_assert(has_few_enough_fields<T>,
                      "posthorn: a description has at most 64 fields; nest them");
        static_assert(!has_few_enough_fields<T> || field_names_differ<T>,
                      "posthorn: two fields of this struct have the same name; rename one");
        if constexpr (!has_few_enough_fields<T> || !field_names_differ<T>)
            return;
        else if constexpr (fit_below<T>::of_fields(fields_of<T>{}) == fit::good)
            static_assert(std::is_default_constructible_v<T>,
                          "posthorn: this type cannot be made without arguments, so that it cannot "
                          "be read from a message; give it a default constructor");
        else
            []<class... Items>(type_list<Items...>) {
                (explain_field<Items, T, Above...>(), ...);
            }(fields_of<T>{});
    }
}

/// Whether it is a `json_type`; if not, stops the build with one line that says what to change.
template <class T>
consteval bool check_type() {
    using inner = typename innermost<T>::type;
    if constexpr (json_type<T>) {
        return true;
    } else if constexpr (contains_itself<T>) {
        static_assert(!contains_itself<T>,
                      "posthorn: this type contains itself, so its messages could be endless; "
                      "refer to the inner one by its id, or make that field a posthorn::raw_json");
        return false;
    } else if constexpr (described<inner> && fit_of<inner>() != fit::good) {
        explain<inner>();
        return false;
    } else {
        static_assert(
            json_type<T>,
            "posthorn: this type cannot be serialised; make it a plain aggregate, describe "
            "it with POSTHORN_STRUCT or POSTHORN_ENUM, or use text, numbers, bool, "
            "optional, vector, map, variant, chrono, posthorn::uuid or "
            "posthorn::raw_json");
        return false;
    }
}

}  // namespace detail

}  // namespace posthorn
