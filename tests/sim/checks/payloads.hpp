#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace posthorn::sim {

/// A payload, which tells what the outbox may have forgotten: the order key, if there is one.
[[nodiscard]] std::string payload_of(const std::string& order_key, std::uint64_t hops);
/// The order key in a payload; empty if there is none.
[[nodiscard]] std::string order_key_in(std::string_view payload);

/// Whether a handler of this endpoint works in the receiver's transaction.
[[nodiscard]] inline bool is_transactional(std::string_view endpoint) {
    return endpoint == "Effect" || endpoint.ends_with("/v1/Take") ||
           endpoint.ends_with("/v1/GiveBack");
}

}  // namespace posthorn::sim
