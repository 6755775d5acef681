#pragma once

#include <cstdint>
#include <string>

#include "transport/http/guarded/guarded_answer.hpp"
#include "transport/transport.hpp"

namespace posthorn {

// What an endpoint's answer means for a delivery. The first line that fits counts.
//
// clang-format off
// | the answer                                    | the delivery                            |
// |-----------------------------------------------|-----------------------------------------|
// | 2xx                                           | is done                                 |
// | 410, or `webhook-delivery: disable`           | is given up; the subscription is disabled |
// | `webhook-delivery: abort-message`             | is given up                             |
// | 429 or 503 with Retry-After                   | waits, uncharged; the lane rests        |
// | too many connections of ours, or we stop      | waits, uncharged                        |
// | any other status, or none                     | is tried again, and charged             |
// clang-format on

struct webhook_verdict {
    delivery what{};
    bool disables = false;         // The endpoint wants no more.
    std::string for_subscriber{};  // Why not, in words that tell nothing of our network.
};

/// Pure.
[[nodiscard]] webhook_verdict judge_webhook(const guarded_answer& answer);

/// Whether a delivery is given up after an attempt, counted from 1: what the endpoint puts off is
/// not, since it costs no retry. Less than no retries is as many as it likes. Pure.
[[nodiscard]] bool ends_delivery(outcome seen, std::int32_t attempt,
                                 std::int32_t retries_max) noexcept;

}  // namespace posthorn
