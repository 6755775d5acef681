#pragma once

#include "store/rules/inbox_changes.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/file_care.hpp"

namespace posthorn::sqlite {

/// The inbox in a file whose disk may be full.
class inbox_sql final : public inbox_changes<driver> {
public:
    inbox_sql(connection& database, const file_care& file)
        : inbox_changes(database), room_(file.room) {}

private:
    result<> require_room() override { return room_.require_room(); }

    disk_keeper& room_;
};

}  // namespace posthorn::sqlite
