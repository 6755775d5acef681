#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Traces and metrics for OpenTelemetry's collectors.
[[nodiscard]] const feature& otlp_feature() noexcept;

}  // namespace posthorn
