#include <array>
#include <utility>

#include "store/outbox_table.hpp"

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 5> names{"Pending", "Sent", "Dead", "Expired", "Resolved"};

}  // namespace

std::string_view to_string(outbox_status status) noexcept {
    return names[static_cast<std::size_t>(status)];
}

std::optional<outbox_status> parse_outbox_status(std::string_view text) noexcept {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) return static_cast<outbox_status>(i);
    return std::nullopt;
}

std::string_view to_string(order_policy policy) noexcept {
    return policy == order_policy::pass ? "pass" : "park";
}

std::optional<order_policy> parse_order_policy(std::string_view text) noexcept {
    for (const auto policy : {order_policy::park, order_policy::pass})
        if (to_string(policy) == text) return policy;
    return std::nullopt;
}

}  // namespace posthorn
