#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// What a collector's answer to a request means, by the specification of OTLP over HTTP.
struct export_verdict {
    enum class kind : std::uint8_t {
        taken,  // But for those that were rejected.
        again,  // The same later.
        halve,  // It was too large.
        lost,   // It will never be taken.
    };

    kind what = kind::lost;
    std::optional<std::chrono::milliseconds> pause{};  // That the collector asks for.
    std::int64_t rejected = 0;                         // Spans, or points of metrics.
    std::string why{};                                 // For people.
};

/// Pure.
[[nodiscard]] export_verdict judge_export(const result<http_response>& answer);

/// `partial_success` of an `ExportTraceServiceResponse` or `ExportMetricsServiceResponse`; all of it
/// was taken where there is none. What is not such a message counts as taken too.
struct partial_success {
    std::int64_t rejected = 0;
    std::string why{};
};
[[nodiscard]] partial_success read_partial_success(std::string_view body);

/// How long to wait before the next try, after so many in vain: from a second up to half a minute.
/// `chance` is from 0 to 1.
[[nodiscard]] std::chrono::milliseconds export_pause(std::size_t in_vain, double chance);

inline constexpr std::size_t export_tries_max = 5;

}  // namespace posthorn
