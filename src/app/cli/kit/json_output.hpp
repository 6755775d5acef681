#pragma once

#include <optional>
#include <ostream>
#include <string>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <posthorn/detail/time.hpp>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

/// What `--json` prints: one value on one line.
inline void print_json(const console& terminal, const boost::json::value& value) {
    terminal.out << boost::json::serialize(value) << '\n';
}

[[nodiscard]] inline boost::json::value to_json(const std::optional<wall_time>& time) {
    if (!time) return nullptr;
    return boost::json::value(to_iso8601(*time));
}

}  // namespace posthorn::cli
