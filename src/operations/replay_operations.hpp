#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operations/dead_operations.hpp"

namespace posthorn {

/// Which delivered messages are to be sent again, to a receiver that has forgotten them.
struct replay_query {
    wall_time since{};          // Acknowledged then or later,
    wall_time until{};          // and before this: one moment for all slices of a replay.
    std::string destination{};  // All if empty.
    std::string after{};        // The `next` of the slice before; the first if empty.
    bool of_inbox = false;      // From the inbox's database, where it has one of its own.
};

/// `since` must be there; `until` is now unless told, and must be told with an `after`: what was sent
/// again is acknowledged again, and would be met a second time. `error_code::invalid_argument` names
/// what is unknown, wrong or missing. Pure.
[[nodiscard]] result<replay_query> parse_replay_query(std::string_view query, wall_time now);

struct replay_done {
    std::int64_t replayed = 0;
    std::int64_t expired = 0;  // Past their time: they stay as they are.
    std::string next{};        // Where to go on; empty if that was all.
};

inline constexpr std::size_t replay_slice_rows = 500;
inline constexpr std::size_t replay_count_rows = 50'000;

/// The next `replay_slice_rows` delivered messages of that time, those that are wanted made pending
/// again in one unit. `error_code::invalid_argument` where the outbox is on a server.
task<result<replay_done>> replay_slice_of(dead_place at, replay_query asked);
/// What it would come to, among the next `replay_count_rows`. Changes nothing.
task<result<replay_done>> count_replay(dead_place at, replay_query asked);

}  // namespace posthorn
