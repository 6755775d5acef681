#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include <posthorn/json/time.hpp>
#include <posthorn/json/types.hpp>
#include <posthorn/json/writer.hpp>

namespace posthorn {
namespace detail {

template <class T>
void encode_value(json_writer& to, const T& value);

template <class T>
void encode_enum(json_writer& to, T value) {
    using items = enumerators_of<T>;
    for (std::size_t i = 0; i < items::size; ++i)
        if (enumerator_values<items>[i] == value) return to.string(item_names<items>[i]);
    to.fail("is an enumerator without a name; add it to POSTHORN_ENUM");
}

template <class T>
void encode_field(json_writer& to, std::string_view name, const T& value) {
    // What is empty is left out.
    if constexpr (is_optional<T>)
        if (!value.has_value()) return;
    to.plain_key(name);
    const json_writer::at here(to, name);
    encode_value(to, value);
}

template <class T>
void encode_struct(json_writer& to, const T& value) {
    to.open('{');
    [&]<class... Items>(type_list<Items...>) {
        (encode_field(to, Items::name, Items::get(value)), ...);
    }(fields_of<T>{});
    to.close('}');
}

template <class T>
void encode_array(json_writer& to, const T& values) {
    to.open('[');
    std::size_t index = 0;
    for (const auto& value : values) {
        to.element();
        const json_writer::at here(to, index++);
        encode_value<typename T::value_type>(to, value);
    }
    to.close(']');
}

template <class T>
void encode_map(json_writer& to, const T& values) {
    to.open('{');
    for (const auto& [key, value] : values) {
        const json_writer::at here(to, key);
        to.key(key);
        encode_value(to, value);
    }
    to.close('}');
}

template <class T>
void encode_variant(json_writer& to, const T& value) {
    if (value.valueless_by_exception()) to.fail("holds nothing");
    to.open('{');
    std::visit(
        [&]<class Chosen>(const Chosen& chosen) {
            constexpr auto name = alternative_name<Chosen>();
            to.plain_key(name);
            const json_writer::at here(to, name);
            encode_value(to, chosen);
        },
        value);
    to.close('}');
}

template <class T>
void encode_time(json_writer& to, const T& value) {
    const auto span = to_span(value.time_since_epoch());
    const auto text = span ? to_time_text(*span) : std::nullopt;
    if (!text) to.fail("is a time outside the years 0001 to 9999");
    to.string(*text);
}

template <class T>
void encode_duration(json_writer& to, const T& value) {
    const auto span = to_span(value);
    if (!span) to.fail("is too long a duration");
    to.string(to_duration_text(*span));
}

template <class T>
void encode_value(json_writer& to, const T& value) {
    if constexpr (std::same_as<T, std::string>) {
        to.string(value);
    } else if constexpr (std::same_as<T, bool>) {
        to.boolean(value);
    } else if constexpr (json_integer<T> && std::is_signed_v<T>) {
        to.integer(value);
    } else if constexpr (json_integer<T>) {
        to.natural(value);
    } else if constexpr (json_real<T>) {
        to.real(value);
    } else if constexpr (described_enum<T>) {
        encode_enum(to, value);
    } else if constexpr (is_time<T>) {
        encode_time(to, value);
    } else if constexpr (is_duration<T>) {
        encode_duration(to, value);
    } else if constexpr (std::same_as<T, uuid>) {
        char text[36];
        value.format_to(text);
        to.string({text, sizeof text});
    } else if constexpr (std::same_as<T, raw_json>) {
        to.raw(value.text);
    } else if constexpr (std::same_as<T, std::monostate>) {
        to.null();
    } else if constexpr (is_optional<T>) {
        if (value.has_value())
            encode_value(to, *value);
        else
            to.null();
    } else if constexpr (is_vector<T>) {
        encode_array(to, value);
    } else if constexpr (is_map<T>) {
        encode_map(to, value);
    } else if constexpr (is_variant<T>) {
        encode_variant(to, value);
    } else {
        encode_struct(to, value);
    }
}

}  // namespace detail

/// A value's JSON, appended to a text. Throws `error_code::invalid_payload` for what JSON cannot
/// say, with its path; the text then holds the beginning.
template <class T>
void encode_to(std::string& text, const T& value) {
    if constexpr (detail::check_type<T>()) {
        json_writer to(text);
        detail::encode_value(to, value);
    }
}

template <class T>
[[nodiscard]] std::string encode(const T& value) {
    std::string text;
    text.reserve(256);
    encode_to(text, value);
    return text;
}

}  // namespace posthorn
