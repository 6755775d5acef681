#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/trace/trace_span.hpp"

namespace posthorn {

/// In whose words the node tells of itself.
enum class telemetry_profile : std::uint8_t {
    messaging,  // The semantic conventions of OpenTelemetry for messaging.
    outboxnet,  // The names of OutboxNet, for dashboards that were made for it.
};

[[nodiscard]] std::optional<telemetry_profile> parse_profile(std::string_view text) noexcept;

/// The instrumentation scope: of spans, and of metrics.
[[nodiscard]] std::string_view scope_name(telemetry_profile by) noexcept;
[[nodiscard]] std::string_view scope_version(telemetry_profile by) noexcept;

[[nodiscard]] std::string_view name_of(span_kind kind) noexcept;
/// Empty if the profile does not say it.
[[nodiscard]] std::string_view name_of(span_key key, telemetry_profile by) noexcept;
/// As `SpanKind` of the protocol numbers them.
[[nodiscard]] std::uint32_t protocol_kind(span_kind kind) noexcept;
/// `messaging.operation.type` of the conventions; empty for what is no operation on messages.
[[nodiscard]] std::string_view operation_of(span_kind kind) noexcept;

}  // namespace posthorn
