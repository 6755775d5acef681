#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <posthorn/detail/time.hpp>

#include "base/text/utf8.hpp"
#include "store/inspection.hpp"

/// How the admin endpoints write what rows hold.
namespace posthorn::json_fields {

/// Rows that were written by hand may hold anything.
[[nodiscard]] inline boost::json::string text(std::string_view value) {
    constexpr std::size_t characters_max = 4000;
    return boost::json::string(is_utf8(value) ? value : clean_utf8(value, characters_max));
}

inline void set(boost::json::object& into, std::string_view name, const bounded_count& number) {
    into[name] = number.value;
    if (number.at_least) into[std::string(name) + "AtLeast"] = true;
}

/// Nothing, if there is nothing.
inline void set(boost::json::object& into, std::string_view name, std::string_view value) {
    if (!value.empty()) into[name] = text(value);
}

inline void set(boost::json::object& into, std::string_view name,
                const std::optional<wall_time>& time) {
    if (time) into[name] = to_iso8601(*time);
}

/// Zero: no more.
[[nodiscard]] inline boost::json::value cursor(std::int64_t next) {
    return next > 0 ? boost::json::value(next) : boost::json::value(nullptr);
}

}  // namespace posthorn::json_fields
