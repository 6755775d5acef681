#pragma once

#include "store/rules/inbox_changes.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/file_care.hpp"

namespace posthorn::sqlite {

class inbox_sql final : public inbox_changes<driver> {
public:
    inbox_sql(connection& database, const file_care& file);

    result<bool> insert(const inbox_record& record) override;
    result<bool> claim(const inbox_claim& wanted, wall_time now) override;

private:
    disk_keeper& room_;
    statement claim_;
    statement take_over_;
};

}  // namespace posthorn::sqlite
