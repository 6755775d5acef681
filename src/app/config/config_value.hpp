#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace posthorn {

struct config_item;

struct config_list {
    std::vector<config_item> items;  // Without names.
};

struct config_fields {
    std::vector<config_item> items;
};

/// The kind of something that no key takes, such as a date.
struct config_other {
    std::string kind;
};

/// A value as it was written, before its key says what it means.
using config_value =
    std::variant<std::string, std::int64_t, double, bool, config_list, config_fields, config_other>;

/// A part of a list or of a table, and where it was written.
struct config_item {
    std::string name;
    std::string origin;  // Such as `posthorn.toml:3`.
    config_value value;
};

/// As messages quote it.
[[nodiscard]] std::string show_value(const config_value& value);

}  // namespace posthorn
