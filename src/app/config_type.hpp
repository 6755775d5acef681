#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/config.hpp"

namespace posthorn {

/// How one C++ type is written in the configuration.
///
/// `name` is for the documentation, `example` for whoever wrote something else; `read` is empty if
/// the value has another type or is not a usable one; `show` writes what `read` would read.
template <class T>
struct config_type;

template <>
struct config_type<std::string> {
    static constexpr std::string_view name = "string";
    static constexpr std::string_view wanted = "a string that is not empty, such as \"orders\"";
    static std::optional<std::string> read(const config_value& value);
    static std::string show(const std::string& value) { return value; }
};

template <>
struct config_type<host_port> {
    static constexpr std::string_view name = "address";
    static constexpr std::string_view wanted =
        "\"ADDRESS:PORT\", such as \"127.0.0.1:7400\", \"[::1]:7400\" or \"0.0.0.0:7400\" "
        "(port 0 is any free one)";
    static std::optional<host_port> read(const config_value& value);
    static std::string show(const host_port& value) { return to_string(value); }
};

template <>
struct config_type<log_level> {
    static constexpr std::string_view name = "level";
    static constexpr std::string_view wanted =
        R"(one of "trace", "debug", "info", "warn", "error")";
    static std::optional<log_level> read(const config_value& value);
    static std::string show(log_level value);
};

template <>
struct config_type<log_format> {
    static constexpr std::string_view name = "format";
    static constexpr std::string_view wanted = R"("text" or "json")";
    static std::optional<log_format> read(const config_value& value);
    static std::string show(log_format value);
};

}  // namespace posthorn
