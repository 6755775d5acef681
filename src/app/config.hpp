#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "transport/host_port.hpp"

namespace posthorn {

/// Everything a node is told; each member's initial value is its documented default.
///
/// A new key is a member here and a line in the table of config.cpp.
struct config {
    struct {
        std::string id = "posthorn";
    } service;
    struct {
        host_port http{"127.0.0.1", 7400};
        host_port admin{"127.0.0.1", 7401};
    } listen;
    struct {
        log_level level = log_level::info;
        log_format format = log_format::text;
    } log;

    /// Where each key was set, such as `posthorn.toml:3`; keys that hold their default are missing.
    std::map<std::string, std::string, std::less<>> origins;
};

/// A value as it was written, before its key says what it means. The last alternative is the kind
/// of something that no key takes, such as an array.
struct config_other {
    std::string kind;
};
using config_value = std::variant<std::string, std::int64_t, double, bool, config_other>;

/// One key, for those who list them: `posthorn config show`, the documentation, the tests.
struct config_entry {
    std::string_view key;  // section.name
    std::string_view type;
    std::string_view doc;
    std::string value;
    std::string origin;  // "default", or as in `config::origins`.
};

[[nodiscard]] std::span<const std::string_view> config_keys();
[[nodiscard]] std::vector<config_entry> list_config(const config& settings);

/// Sets one key. `origin` says where the value was written and begins the message of a failure,
/// which is always `invalid_configuration`: `origin: what is wrong; what to write instead`.
result<> set_config(config& settings, std::string_view key, const config_value& value,
                    std::string_view origin);

/// The same failure for a section that does not exist.
[[nodiscard]] error unknown_section(std::string_view section, std::string_view origin);
[[nodiscard]] bool is_config_section(std::string_view section);

/// Reads a TOML file over the defaults. All that is wrong with it comes in one message, a line
/// each, in the order of the file.
[[nodiscard]] result<config> load_config(const std::filesystem::path& file);
/// The same from text; `name` stands for the file in messages.
[[nodiscard]] result<config> parse_config(std::string_view text, std::string_view name);

}  // namespace posthorn
