#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// How another node is, as it says, or as its silence shows.
struct node_light {
    std::string colour = "red";  // green, yellow or red.
    std::vector<std::string> reasons{};
    bool answered = false;  // It told its health; otherwise the reasons are ours.
    std::string service{};  // What it calls itself.
    std::string version{};

    bool operator==(const node_light&) const = default;
};

/// What the answer to `GET /_rf/health` shows. Who does not answer, refuses the key or answers
/// something else is red, since none knows how it is. Every text is clean and of bounded length.
/// Pure.
[[nodiscard]] node_light read_light(const result<http_response>& answer, bool with_key);

/// A time in which a node's light and its reasons were the same.
struct light_span {
    std::int64_t seq = 0;
    wall_time began{};
    wall_time asked{};  // Last.
    std::chrono::milliseconds latency{};
    node_light light{};
};

/// Whether what was seen now belongs to the last span. Numbers in reasons may differ, since a
/// backlog has another one every minute; a longer silence of the one that asks ends a span, since
/// none knows what was in it. Pure.
[[nodiscard]] bool goes_on(const light_span& last, const node_light& seen, wall_time now,
                           std::chrono::milliseconds every);

/// Whether a node was asked recently enough for its light to be believed. Pure.
[[nodiscard]] bool is_fresh(wall_time asked, wall_time now, std::chrono::milliseconds every);

/// Reasons as the table keeps them, a JSON array, and back; what cannot be read is none.
[[nodiscard]] std::string encode_reasons(const std::vector<std::string>& reasons);
[[nodiscard]] std::vector<std::string> decode_reasons(std::string_view text);

}  // namespace posthorn
