#pragma once

#include "store/rules/lease_changes.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

class lease_sql final : public lease_changes<driver> {
public:
    explicit lease_sql(connection& database);
};

}  // namespace posthorn::sqlite
