#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/message.hpp>

#include "base/result.hpp"

namespace posthorn {

/// A message as brokers have it: an id, a body, where it goes, and headers of text.
struct broker_message {
    using header_list = std::vector<std::pair<std::string, std::string>>;

    std::string id{};       // Of its sender's; empty where it has none.
    std::string address{};  // A routing key or a subject.
    std::string body{};
    std::string content_type{};
    std::string correlation_id{};
    std::int64_t created_seconds = 0;  // Since 1970; zero where it is not known.
    std::int32_t priority = 0;
    header_list headers{};

    /// Null if there is none. Names are told apart without regard to case.
    [[nodiscard]] const std::string* header(std::string_view name) const;
    bool operator==(const broker_message&) const = default;
};

/// What of ours travels in headers, beside those of the message itself.
namespace broker_header {
inline constexpr std::string_view endpoint = "rf-endpoint";
inline constexpr std::string_view type = "rf-type";
inline constexpr std::string_view source = "rf-source";
inline constexpr std::string_view tenant = "rf-tenant";
inline constexpr std::string_view order_key = "rf-order-key";
inline constexpr std::string_view correlation_id = "rf-correlation-id";
inline constexpr std::string_view parent_id = "rf-parent-id";
inline constexpr std::string_view causation_id = "rf-causation-id";
inline constexpr std::string_view created_at = "rf-created-at";
inline constexpr std::string_view expires_at = "rf-expires-at";
}  // namespace broker_header

/// A text with `{endpoint}`, `{destination}`, `{tenant}`, `{type}` or `{order_key}` in it, filled
/// in. Pure.
[[nodiscard]] std::string fill_address(std::string_view pattern, const message& from);
/// `error_code::invalid_configuration` if it has a name in braces that is none of these.
[[nodiscard]] result<> check_address(std::string_view pattern);

/// Pure. Headers of the message that a broker could not carry, or that are ours, are left out.
[[nodiscard]] broker_message to_broker(const message& from, std::string_view address_pattern);

/// Roughly what it takes in memory.
[[nodiscard]] std::size_t bytes_of(const broker_message& one);

}  // namespace posthorn
