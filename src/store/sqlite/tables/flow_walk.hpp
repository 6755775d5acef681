#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/joined.hpp"
#include "store/rules/flow.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// A flow's own part of a statement: its destination, tenant and priority are parameters 1 to 3.
inline constexpr auto in_flow = joined(R"sql(
    FROM outbox_messages INDEXED BY idx_outbox_status_retry
    WHERE status = 'Pending' AND destination = ?1 AND coalesce(tenant, '') = ?2 AND priority = ?3
    )sql");

/// Goes from flow to flow by one step of the index each, however many rows they have.
///
/// Bytes in the place of a destination, which only a writer with its checks switched off can leave
/// there, are not a name: as text they could be the same as another.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class flow_walk final : public flow_source {
public:
    explicit flow_walk(connection& database);

    /// Over all destinations, in order.
    result<std::optional<flow>> first();
    result<std::optional<flow>> next(const flow& after);
    /// Passes over what is left of a destination.
    result<std::optional<flow>> next_destination(std::string_view after);

    /// Within one destination.
    result<std::optional<flow>> first_of(std::string_view destination);
    result<std::optional<flow>> next_of_same(const flow& after);

    result<> go_round(std::optional<std::string_view> destination, std::optional<flow>& resume,
                      const flow_visitor& visit) override;

    /// Names of destinations that have something pending, in order.
    result<std::vector<std::string>> destinations(std::size_t limit);

private:
    result<std::optional<flow>> from_destination(std::string_view name);
    result<std::optional<flow>> from_tenant(std::string_view destination, std::string_view tenant);

    statement from_destination_;
    statement from_tenant_;
    statement after_priority_;
};

}  // namespace posthorn::sqlite
