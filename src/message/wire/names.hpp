#pragma once

#include <array>
#include <chrono>
#include <string_view>

namespace posthorn::wire_names {

/// The headers of ours, as docs/reference/wire.md lists them.
inline constexpr std::string_view version = "rf-version";
inline constexpr std::string_view timestamp = "rf-timestamp";
inline constexpr std::string_view expires_at = "rf-expires-at";
inline constexpr std::string_view content_type = "rf-content-type";
inline constexpr std::string_view encoding = "rf-encoding";
inline constexpr std::string_view tenant = "rf-tenant";
inline constexpr std::string_view order_key = "rf-order-key";
inline constexpr std::string_view causation_id = "rf-causation-id";
inline constexpr std::string_view parent_id = "rf-parent-id";
inline constexpr std::string_view hmac = "rf-hmac";  // Of the older signature alone.

inline constexpr std::string_view ours = "rf-";  // What the names of all of them begin with.
inline constexpr std::string_view base64 = "base64";
inline constexpr std::string_view json = "application/json";

inline constexpr std::chrono::hours life_default{24};  // Of messages that name no expiry.

}  // namespace posthorn::wire_names
