#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/trace/span_context.hpp"

namespace posthorn {

/// Which traces are recorded. Pure.
struct sampler {
    enum class kind : std::uint8_t { always, never, ratio };

    kind of_roots = kind::always;
    bool heeds_parent = true;  // What has a parent is recorded if that is.
    double ratio = 1;          // Of `kind::ratio`: from 0 to 1.

    /// Every node decides alike, since the trace's id decides and nothing else.
    [[nodiscard]] bool samples(const trace_id& of, const span_context* parent) const noexcept;
    bool operator==(const sampler&) const = default;
};

/// By the names of `OTEL_TRACES_SAMPLER`: `always_on`, `always_off`, `traceidratio`, and each of
/// them with `parentbased_` before it.
[[nodiscard]] std::optional<sampler> parse_sampler(std::string_view name, double ratio) noexcept;
[[nodiscard]] std::string_view name_of(const sampler& one) noexcept;

}  // namespace posthorn
