#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/flow.hpp"

namespace posthorn::postgres {

/// Goes from flow to flow by one step of the index each, however many rows they have.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class flow_walk final : public flow_source {
public:
    explicit flow_walk(connection& database);

    result<> go_round(std::optional<std::string_view> destination, std::optional<flow>& resume,
                      const flow_visitor& visit) override;
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
