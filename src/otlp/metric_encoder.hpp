#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "otlp/metric_set.hpp"
#include "otlp/span_encoder.hpp"

namespace posthorn {

/// What the numbers count since, and when they were read; nanoseconds since 1970.
struct metric_times {
    std::int64_t since_ns = 0;
    std::int64_t at_ns = 0;
};

/// `ExportMetricsServiceRequest` in protocol buffers; counters and histograms are cumulative. Pure.
[[nodiscard]] std::string encode_metrics(const telemetry_resource& resource,
                                         std::span<const metric> metrics, const metric_times& times,
                                         telemetry_profile by);

}  // namespace posthorn
