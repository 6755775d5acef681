#pragma once

#include "store/lease_table.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// The leases inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class lease_sql final : public lease_table {
public:
    explicit lease_sql(connection& database);

    result<std::optional<lease>> find(std::string_view name) override;
    result<std::optional<lease>> take(std::string_view name, std::string_view owner,
                                      const std::optional<lease>& seen) override;
    result<bool> beat(std::string_view name, std::string_view owner, std::int64_t epoch) override;
    result<bool> release(std::string_view name, std::string_view owner,
                         std::int64_t epoch) override;

private:
    statement find_;
    statement make_;
    statement take_;
    statement beat_;
    statement release_;
};

}  // namespace posthorn::sqlite
