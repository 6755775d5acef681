#pragma once

#include <cstdint>
#include <string_view>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/lease_changes.hpp"

namespace posthorn::postgres {

/// The leases; among them those that are seats of dispatchers.
class lease_sql final : public lease_changes<driver> {
public:
    explicit lease_sql(connection& database);

    /// A seat goes with it. Who is frozen in a transaction that has one locked is ended.
    result<bool> release(std::string_view name, std::string_view owner,
                         std::int64_t epoch) override;

private:
    statement leave_;
    statement end_frozen_;
};

}  // namespace posthorn::postgres
