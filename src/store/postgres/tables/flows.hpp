#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// What is pending for one destination, tenant and priority. Each flow is one stretch of the index
/// of due rows, in the order of their time.
struct flow {
    std::string destination;
    std::string tenant;
    std::int64_t priority = 0;
    std::int64_t first_ms = 0;  // When its first message falls due.
};

/// Goes from flow to flow by one step of the index each, however many rows they have.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class flow_walk {
public:
    explicit flow_walk(connection& database);

    enum class step : std::uint8_t { on, stop };
    using visitor = std::function<step(const flow&)>;
    /// Visits every flow once, of one destination or of all, but not many more than 10,000. If it
    /// ends before all were seen, `resume` says after which one the next call goes on.
    result<> go_round(std::optional<std::string_view> destination, std::optional<flow>& resume,
                      const visitor& visit);
    /// Names of destinations that have something pending, in order.
    result<std::vector<std::string>> destinations(std::size_t limit);

private:
    result<std::vector<flow>> after(std::optional<std::string_view> destination,
                                    const std::optional<flow>& mark);

    statement all_;
    statement all_after_;
    statement of_one_;
    statement of_one_after_;
    statement names_;
};

}  // namespace posthorn::postgres
