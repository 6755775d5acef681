#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "feature/node_builder.hpp"
#include "feature/prometheus_text.hpp"
#include "standby/follower.hpp"

namespace posthorn::standby {

// What a standby tells of itself. Pure.

/// After so long without a word a primary is said to be away; it speaks every half second.
inline constexpr std::chrono::seconds silence_max{5};

[[nodiscard]] std::vector<health_worry> worries_of(const follow_report& seen);
/// As `GET /_rf/standby` answers it.
[[nodiscard]] boost::json::object to_json(const follow_report& seen);
/// What its state file says, where it does not run.
[[nodiscard]] boost::json::object to_json(const pair_state& kept);
void write_metrics(prometheus_text& text, const follow_report& seen);

}  // namespace posthorn::standby
