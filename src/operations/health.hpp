#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operations/lanes.hpp"
#include "operations/operations.hpp"
#include "transport/http/router.hpp"

namespace posthorn {

/// How a node is, in the colours that monitoring shows.
enum class health_status : std::uint8_t {
    green,   // Does its work.
    yellow,  // Does its work, but a person should look.
    red,     // A person must look, now.
};

[[nodiscard]] std::string_view to_string(health_status status) noexcept;

/// Something that a person should see to, though the node works.
struct health_worry {
    health_status how = health_status::yellow;
    std::string what;
};

/// What is known of a node when it is asked how it is.
struct health_facts {
    /// Why it cannot work: its store has failed, cannot be read, or is stuck. Empty if it can.
    std::vector<std::string> broken{};
    std::vector<health_worry> worries{};
    outbox_overview outbox{};
    std::vector<lane_report> lanes{};
};

struct health_verdict {
    health_status status = health_status::green;
    bool working = true;                 // Otherwise nothing can be sent or received.
    bool undeliverable = false;          // The alarm: messages have no route or no handler.
    std::vector<std::string> reasons{};  // Why it is not green, the worst first.

    bool operator==(const health_verdict&) const = default;
};

inline constexpr std::int64_t pending_green_below = 50;
inline constexpr std::int64_t pending_warned_above = 500;
inline constexpr std::chrono::seconds age_green_below{30};
inline constexpr std::chrono::minutes age_warned_above{2};

/// The traffic light. Pure.
///
/// | colour | when                                                                           |
/// |--------|--------------------------------------------------------------------------------|
/// | red    | it cannot work, there is a dead message, or the disk is too full for new ones  |
/// | yellow | 50 messages or more wait, or one has waited for 30 s, or one is undeliverable; |
/// |        | or a destination does not answer, or is paused; or there is a worry: the disk  |
/// |        | is getting full, a backup failed, the clock has jumped                         |
/// | green  | otherwise                                                                      |
///
/// The document leaves open what lies between 50 and 500, and between 30 s and two minutes; here it
/// is yellow, and only the words of the reason differ.
[[nodiscard]] health_verdict judge_health(const health_facts& facts);

struct health_report {
    health_status status = health_status::green;
    std::string service;
    std::string version;
    bool working = true;
};

/// The report as one JSON object, with no more than strangers may know.
[[nodiscard]] std::string render_health(const health_report& report);

/// Adds `GET /_rf/health`: 200 with the report, 503 if the node does not work. A red one with a
/// dead message does work: whoever takes nodes out of service by this must leave it in.
void add_health_route(router& routes, std::function<health_report()> current);

}  // namespace posthorn
