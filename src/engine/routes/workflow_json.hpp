#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "engine/rows/state_changes.hpp"
#include "engine/rows/workflow_rows.hpp"

/// Rows of workflows as the admin API tells them. Pure.
namespace posthorn {

inline constexpr std::size_t shown_text_max = 1000;

[[nodiscard]] std::string time_text(std::int64_t ms);
/// JSON as it was stored; what is not JSON as a text.
[[nodiscard]] boost::json::value stored_json(const std::string& text);
/// The same of a state; empty if none was stored.
[[nodiscard]] std::optional<boost::json::value> state_json(const std::string& stored);

[[nodiscard]] boost::json::object workflow_json(const instance_row& one);
/// The step that did not come out as recorded, with both sides where they can be told.
[[nodiscard]] boost::json::object workflow_json(const step_difference& differs);
[[nodiscard]] boost::json::array workflow_json(const std::vector<state_change>& changes);
[[nodiscard]] boost::json::object workflow_json(const recorded_step& step, std::int64_t number,
                                                bool with_payloads);

}  // namespace posthorn
