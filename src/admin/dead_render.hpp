#pragma once

#include <boost/json/object.hpp>

#include "operations/dead_operations.hpp"

namespace posthorn {

/// What the endpoints of dead letters and the command line's `--json` show. Pure.

[[nodiscard]] boost::json::object to_json(const dead_letter_row& row);
[[nodiscard]] boost::json::object to_json(const dead_page& page);
[[nodiscard]] boost::json::object to_json(const dead_groups& page);
[[nodiscard]] boost::json::object to_json(const dead_view& view, bool with_payload);
[[nodiscard]] boost::json::object to_json(const dead_changed& changed);
[[nodiscard]] boost::json::object to_json(const dead_progress& progress);

}  // namespace posthorn
