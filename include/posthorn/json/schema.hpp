#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include <posthorn/json/types.hpp>
#include <posthorn/json/writer.hpp>

namespace posthorn {
namespace detail {

// The writer may be one that works while the compiler runs.
template <class T, class Writer>
constexpr void write_schema(Writer& to);

template <class Writer>
constexpr void write_type(Writer& to, std::string_view type) {
    to.plain_key("type");
    to.string(type);
}

template <class Writer>
constexpr void write_text_schema(Writer& to, std::string_view key, std::string_view value) {
    write_type(to, "string");
    to.plain_key(key);
    to.string(value);
}

/// `"key": {schema of T}`
template <class T, class Writer>
constexpr void write_subschema(Writer& to, std::string_view key) {
    to.plain_key(key);
    to.open('{');
    write_schema<T>(to);
    to.close('}');
}

template <class Writer, class... Items>
constexpr void write_struct_schema(Writer& to, type_list<Items...>) {
    write_type(to, "object");
    to.plain_key("properties");
    to.open('{');
    (write_subschema<typename Items::value_type>(to, Items::name), ...);
    to.close('}');
    to.plain_key("required");
    to.open('[');
    [[maybe_unused]] const auto require = [&](bool is_required, std::string_view name) {
        if (!is_required) return;
        to.element();
        to.string(name);
    };
    (require(!is_optional<typename Items::value_type>, Items::name), ...);
    to.close(']');
}

template <class Writer, class... Items>
constexpr void write_enum_schema(Writer& to, type_list<Items...>) {
    to.plain_key("enum");
    to.open('[');
    ((to.element(), to.string(Items::name)), ...);
    to.close(']');
}

template <class Writer, class... Items>
constexpr void write_variant_schema(Writer& to, const std::variant<Items...>*) {
    write_type(to, "object");
    to.plain_key("properties");
    to.open('{');
    (write_subschema<Items>(to, alternative_name<Items>()), ...);
    to.close('}');
    to.plain_key("additionalProperties");
    to.boolean(false);
    to.plain_key("minProperties");
    to.integer(1);
    to.plain_key("maxProperties");
    to.integer(1);
}

template <class T, class Writer>
constexpr void write_optional_schema(Writer& to) {
    to.plain_key("anyOf");
    to.open('[');
    to.element();
    to.open('{');
    write_schema<T>(to);
    to.close('}');
    to.element();
    to.open('{');
    write_type(to, "null");
    to.close('}');
    to.close(']');
}

template <class T, class Writer>
constexpr void write_integer_schema(Writer& to) {
    write_type(to, "integer");
    to.plain_key("minimum");
    to.integer(static_cast<std::int64_t>(std::numeric_limits<T>::min()));
    to.plain_key("maximum");
    to.natural(static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

/// The members of a schema, without its brackets.
template <class T, class Writer>
constexpr void write_schema(Writer& to) {
    if constexpr (std::same_as<T, std::string>) {
        write_type(to, "string");
    } else if constexpr (std::same_as<T, bool>) {
        write_type(to, "boolean");
    } else if constexpr (json_integer<T>) {
        write_integer_schema<T>(to);
    } else if constexpr (json_real<T>) {
        write_type(to, "number");
    } else if constexpr (described_enum<T>) {
        write_enum_schema(to, enumerators_of<T>{});
    } else if constexpr (is_time<T>) {
        write_text_schema(to, "format", "date-time");
    } else if constexpr (is_duration<T>) {
        write_text_schema(
            to, "pattern",
            "^-?P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]{1,9})?S)?)?$");
    } else if constexpr (std::same_as<T, uuid>) {
        write_text_schema(to, "format", "uuid");
    } else if constexpr (std::same_as<T, std::monostate>) {
        write_type(to, "null");
    } else if constexpr (is_optional<T>) {
        write_optional_schema<typename T::value_type>(to);
    } else if constexpr (is_vector<T>) {
        write_type(to, "array");
        write_subschema<typename T::value_type>(to, "items");
    } else if constexpr (is_map<T>) {
        write_type(to, "object");
        write_subschema<typename T::mapped_type>(to, "additionalProperties");
    } else if constexpr (is_variant<T>) {
        write_variant_schema(to, static_cast<const T*>(nullptr));
    } else if constexpr (described_struct<T>) {
        write_struct_schema(to, fields_of<T>{});
    }
    // Raw JSON may be anything: nothing is said of it.
}

}  // namespace detail

namespace detail {

template <class T, class Writer>
constexpr void write_whole_schema(Writer& to, std::string_view title) {
    to.open('{');
    to.plain_key("$schema");
    to.string("https://json-schema.org/draft/2020-12/schema");
    if (!title.empty()) {
        to.plain_key("title");
        to.string(title);
    }
    write_schema<T>(to);
    to.close('}');
}

}  // namespace detail

/// The JSON Schema (2020-12) of what `encode` writes for a type.
template <class T>
[[nodiscard]] std::string json_schema(std::string_view title = {}) {
    std::string text;
    if constexpr (detail::check_type<T>()) {
        json_writer to(text);
        detail::write_whole_schema<T>(to, title);
    }
    return text;
}

}  // namespace posthorn
