#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.hpp"

namespace posthorn {

/// What is pending for one destination, tenant and priority. Each flow is one stretch of an index,
/// in the order of time.
struct flow {
    std::string destination;
    std::string tenant;
    std::int64_t priority = 0;
    std::int64_t first_ms = 0;  // When its first message falls due.
};

/// Whether a flow comes after another one in the index.
[[nodiscard]] inline bool is_past(const flow& one, const flow& mark) {
    return std::tie(one.destination, one.tenant, one.priority) >
           std::tie(mark.destination, mark.tenant, mark.priority);
}

/// Where a visitor of flows goes next. To pass over the rest of a destination saves work; a walk
/// may show it nevertheless.
enum class flow_step : std::uint8_t { on, to_next_destination, stop };
using flow_visitor = std::function<flow_step(const flow&)>;

/// Goes from flow to flow, in order, however many rows they have.
class flow_source {
public:
    virtual ~flow_source() = default;

    /// Visits every flow once, of one destination or of all, but not many more than 10,000. If it
    /// ends before all were seen, `resume` says after which one the next call goes on.
    virtual result<> go_round(std::optional<std::string_view> destination,
                              std::optional<flow>& resume, const flow_visitor& visit) = 0;
};

}  // namespace posthorn
