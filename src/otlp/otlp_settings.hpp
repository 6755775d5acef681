#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/trace/tracer.hpp"
#include "feature/feature.hpp"
#include "otlp/span_encoder.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// Where and how the node tells of itself.
struct otlp_options {
    std::string traces_url{};   // Empty: no spans are made.
    std::string metrics_url{};  // Likewise.
    http_headers headers{};     // Of every request; they may hold a secret.
    std::string
        certificate{};  // A file of PEM that vouches for the collector; the system's if empty.
    bool gzip = false;
    std::chrono::milliseconds timeout = std::chrono::seconds{10};  // Of one request.
    telemetry_resource resource{};
    telemetry_profile profile = telemetry_profile::messaging;
    tracer_options tracing{};
    std::size_t batch_spans = 512;
    std::chrono::milliseconds delay = std::chrono::seconds{5};
    std::chrono::milliseconds interval = std::chrono::seconds{60};
    std::chrono::milliseconds stop_limit = std::chrono::seconds{3};
    std::vector<std::string> warnings{};  // Of variables that cannot be used and are passed over.

    [[nodiscard]] bool is_on() const noexcept {
        return !traces_url.empty() || !metrics_url.empty();
    }
};

[[nodiscard]] std::span<const feature_key> otlp_keys() noexcept;

/// The value of an environment variable; nothing if it is not set, or empty.
using variable_lookup = std::function<std::optional<std::string>(std::string_view name)>;
[[nodiscard]] variable_lookup process_variables();

/// What the section says; where it says nothing, what the variables of OpenTelemetry say. Fails with
/// `error_code::invalid_configuration` for a value of the section that cannot be used; a variable
/// that cannot be is among the warnings, as OpenTelemetry wants it.
[[nodiscard]] result<otlp_options> read_otlp_options(const feature_settings& said,
                                                     const variable_lookup& variables);

}  // namespace posthorn
