#pragma once

#include <chrono>
#include <vector>

#include "base/failure_board.hpp"
#include "feature/node_builder.hpp"

namespace posthorn {

/// Older failures say nothing of now: senders ask again more often than that.
inline constexpr std::chrono::minutes failure_remembered{20};
/// One poison message is the sender's dead letter; several without a success are the handler's.
inline constexpr std::uint64_t handler_failures_noticed = 3;

/// What keeps a node from taking messages in, though it works otherwise. Pure.
///
/// | seen of an endpoint, without a success since | from            |
/// |----------------------------------------------|-----------------|
/// | it has no handler                            | the first time  |
/// | its web service does not answer              | the first time  |
/// | its handler fails                            | the third time  |
///
/// And of a sender that has a secret here: no request of its name passes the check.
[[nodiscard]] std::vector<health_worry> judge_intake(const std::vector<standing_failure>& endpoints,
                                                     const std::vector<standing_failure>& senders);

}  // namespace posthorn
