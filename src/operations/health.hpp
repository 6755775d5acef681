#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feature/node_builder.hpp"
#include "operations/lanes.hpp"
#include "operations/operations.hpp"

namespace posthorn {

[[nodiscard]] std::string_view to_string(health_level status) noexcept;

/// What is known of a node when it is asked how it is.
struct health_facts {
    /// Why it cannot work: its store has failed, cannot be read, or is stuck. Empty if it can.
    std::vector<std::string> broken{};
    std::vector<health_worry> worries{};
    outbox_overview outbox{};
    std::vector<lane_report> lanes{};
};

struct health_verdict {
    health_level status = health_level::green;
    bool working = true;                 // Otherwise nothing can be sent or received.
    bool undeliverable = false;          // The alarm: messages have no route or no handler.
    std::vector<std::string> reasons{};  // Why it is not green, the worst first.

    bool operator==(const health_verdict&) const = default;
};

inline constexpr std::int64_t pending_green_below = 50;
inline constexpr std::int64_t pending_warned_above = 500;
inline constexpr std::chrono::seconds age_green_below{30};
inline constexpr std::chrono::minutes age_warned_above{2};

/// How many messages wait behind one that was given up, and the first of those; empty if none does.
[[nodiscard]] std::string describe(const blocked_report& blocked);

/// The traffic light. Pure.
///
/// | colour | when                                                                           |
/// |--------|--------------------------------------------------------------------------------|
/// | red    | it cannot work, there is a dead message, or the disk is too full for new ones  |
/// | yellow | 50 messages or more wait, or one has waited for 30 s, or one is undeliverable, |
/// |        | has expired, or waits behind one of its order key that was given up; or a      |
/// |        | destination does not answer, or is paused; or there is a worry: the disk is    |
/// |        | getting full, a backup failed, the clock has jumped, outcomes are not recorded |
/// | green  | otherwise                                                                      |
///
/// The document leaves open what lies between 50 and 500, and between 30 s and two minutes; here it
/// is yellow, and only the words of the reason differ.
[[nodiscard]] health_verdict judge_health(const health_facts& facts);

struct health_report {
    health_level status = health_level::green;
    std::string service;
    std::string version;
    bool working = true;
};

/// The report as one JSON object, with no more than strangers may know.
[[nodiscard]] std::string render_health(const health_report& report);

}  // namespace posthorn
