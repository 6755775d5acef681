#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include <posthorn/json_types.hpp>
#include <posthorn/json_writer.hpp>

namespace posthorn {
namespace detail {

template <class T>
void write_schema(json_writer& to);

inline void write_type(json_writer& to, std::string_view type) {
    to.plain_key("type");
    to.string(type);
}

inline void write_text_schema(json_writer& to, std::string_view key, std::string_view value) {
    write_type(to, "string");
    to.plain_key(key);
    to.string(value);
}

/// `"key": {schema of T}`
template <class T>
void write_subschema(json_writer& to, std::string_view key) {
    to.plain_key(key);
    to.open('{');
    write_schema<T>(to);
    to.close('}');
}

template <class... Items>
void write_struct_schema(json_writer& to, type_list<Items...>) {
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

template <class... Items>
void write_enum_schema(json_writer& to, type_list<Items...>) {
    to.plain_key("enum");
    to.open('[');
    ((to.element(), to.string(Items::name)), ...);
    to.close(']');
}

template <class... Items>
void write_variant_schema(json_writer& to, const std::variant<Items...>*) {
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

template <class T>
void write_optional_schema(json_writer& to) {
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

template <class T>
void write_integer_schema(json_writer& to) {
    write_type(to, "integer");
    to.plain_key("minimum");
    to.integer(static_cast<std::int64_t>(std::numeric_limits<T>::min()));
    to.plain_key("maximum");
    to.natural(static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

/// The members of a schema, without its brackets.
template <class T>
void write_schema(json_writer& to) {
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

/// The JSON Schema (2020-12) of what `encode` writes for a type.
template <class T>
[[nodiscard]] std::string json_schema(std::string_view title = {}) {
    std::string text;
    if constexpr (detail::check_type<T>()) {
        json_writer to(text);
        to.open('{');
        to.plain_key("$schema");
        to.string("https://json-schema.org/draft/2020-12/schema");
        if (!title.empty()) {
            to.plain_key("title");
            to.string(title);
        }
        detail::write_schema<T>(to);
        to.close('}');
    }
    return text;
}

}  // namespace posthorn
