#include "sim/checks/payloads.hpp"

#include <fmt/format.h>

#include "sim/checks/keys.hpp"

namespace posthorn::sim {

std::string payload_of(const std::string& order_key, std::uint64_t hops) {
    return fmt::format(R"({{"key":"{}","canary":"{}","hops":{}}})", order_key, payload_canary,
                       hops);
}

std::string order_key_in(std::string_view payload) {
    constexpr std::string_view before = R"({"key":")";
    if (!payload.starts_with(before)) return {};
    payload.remove_prefix(before.size());
    const auto key = payload.substr(0, payload.find('"'));
    payload.remove_prefix(key.size());
    // A signal to a workflow may have a field of that name too.
    return std::string(payload.starts_with(R"(","canary":)") ? key : std::string_view());
}

}  // namespace posthorn::sim
