#include "app/config_type.hpp"

#include <algorithm>
#include <array>

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 5> level_names{"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> format_names{"text", "json"};

// The names stand in the order of the enumeration.
template <class Enum, std::size_t Size>
std::optional<Enum> read_name(const config_value& value,
                              const std::array<std::string_view, Size>& names) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return std::nullopt;
    const auto found = std::ranges::find(names, *text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::optional<std::string> config_type<std::string>::read(const config_value& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text || text->empty()) return std::nullopt;
    return *text;
}

std::optional<host_port> config_type<host_port>::read(const config_value& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return std::nullopt;
    auto parsed = parse_host_port(*text);
    if (!parsed) return std::nullopt;
    return *std::move(parsed);
}

std::optional<log_level> config_type<log_level>::read(const config_value& value) {
    return read_name<log_level>(value, level_names);
}
std::string config_type<log_level>::show(log_level value) {
    return std::string(level_names.at(static_cast<std::size_t>(value)));
}

std::optional<log_format> config_type<log_format>::read(const config_value& value) {
    return read_name<log_format>(value, format_names);
}
std::string config_type<log_format>::show(log_format value) {
    return std::string(format_names.at(static_cast<std::size_t>(value)));
}

}  // namespace posthorn
