#include "engine/rows/state_changes.hpp"

#include <algorithm>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace posthorn {
namespace {

namespace json = boost::json;

std::string escaped(std::string_view name) {
    std::string text;
    for (const char each : name) {
        if (each == '~')
            text += "~0";
        else if (each == '/')
            text += "~1";
        else
            text += each;
    }
    return text;
}

void compare(const std::string& path, const json::value& before, const json::value& after,
             std::vector<state_change>& into);

void compare_objects(const std::string& path, const json::object& before, const json::object& after,
                     std::vector<state_change>& into) {
    for (const auto& [name, value] : after) {
        auto at = fmt::format("{}/{}", path, escaped(name));
        if (const auto* const old = before.if_contains(name))
            compare(at, *old, value, into);
        else
            into.push_back({.path = std::move(at), .after = value});
    }
    for (const auto& [name, value] : before)
        if (!after.contains(name))
            into.push_back({.path = fmt::format("{}/{}", path, escaped(name)), .before = value});
}

void compare_lists(const std::string& path, const json::array& before, const json::array& after,
                   std::vector<state_change>& into) {
    const auto both = std::min(before.size(), after.size());
    for (std::size_t i = 0; i < both; ++i)
        compare(fmt::format("{}/{}", path, i), before[i], after[i], into);
    for (std::size_t i = both; i < after.size(); ++i)
        into.push_back({.path = fmt::format("{}/{}", path, i), .after = after[i]});
    for (std::size_t i = both; i < before.size(); ++i)
        into.push_back({.path = fmt::format("{}/{}", path, i), .before = before[i]});
}

// The depth is bounded by that of JSON that was parsed.
void compare(const std::string& path, const json::value& before, const json::value& after,
             std::vector<state_change>& into) {
    if (before.is_object() && after.is_object())
        return compare_objects(path, before.get_object(), after.get_object(), into);
    if (before.is_array() && after.is_array())
        return compare_lists(path, before.get_array(), after.get_array(), into);
    if (before != after) into.push_back({.path = path, .before = before, .after = after});
}

}  // namespace

std::vector<state_change> find_changes(const std::optional<json::value>& before,
                                       const std::optional<json::value>& after) {
    std::vector<state_change> changes;
    if (before && after)
        compare("", *before, *after, changes);
    else if (before || after)
        changes.push_back({.before = before, .after = after});
    return changes;
}

}  // namespace posthorn
