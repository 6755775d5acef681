#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posthorn {

/// Which trace; all zeros is none.
struct trace_id {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    explicit operator bool() const noexcept { return high != 0 || low != 0; }
    bool operator==(const trace_id&) const = default;
};

/// Which span of a trace; zero is none.
struct span_id {
    std::uint64_t value = 0;

    explicit operator bool() const noexcept { return value != 0; }
    bool operator==(const span_id&) const = default;
};

[[nodiscard]] std::string to_hex(const trace_id& id);
[[nodiscard]] std::string to_hex(span_id id);
/// 16 digits, in lower case.
void write_hex(span_id id, char* to) noexcept;

/// What one side of a call tells the other of the trace that both are part of: W3C `traceparent`.
struct span_context {
    static constexpr std::uint8_t sampled_flag = 1;

    trace_id trace{};
    span_id span{};
    std::uint8_t flags = 0;

    /// Whether its spans are to be recorded.
    [[nodiscard]] bool is_sampled() const noexcept { return (flags & sampled_flag) != 0; }
    bool operator==(const span_context&) const = default;
};

/// Of a `traceparent` of version 00.
inline constexpr std::size_t traceparent_size = 55;
/// Where the id of the span stands in one.
inline constexpr std::size_t span_in_traceparent = 36;

/// Reads a `traceparent`: two digits of the version, 32 of the trace, 16 of the span, two of flags.
/// One of a later version may be longer. Empty if it is not well-formed, or an id is all zeros.
[[nodiscard]] std::optional<span_context> parse_traceparent(std::string_view text) noexcept;
/// Of version 00.
[[nodiscard]] std::string to_traceparent(const span_context& what);

/// What other systems have added to a trace, the latest first: W3C `tracestate`.
using trace_state = std::vector<std::pair<std::string, std::string>>;

/// Empty if it is not well-formed: a key twice, more than 32 members, or more than 512 characters.
[[nodiscard]] std::optional<trace_state> parse_tracestate(std::string_view text);
[[nodiscard]] std::string to_tracestate(const trace_state& members);

}  // namespace posthorn
