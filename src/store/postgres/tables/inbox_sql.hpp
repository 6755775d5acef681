#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/inbox_changes.hpp"

namespace posthorn::postgres {

/// A row that was inserted before the unit that asks for it.
struct row_ahead {
    std::string source;
    uuid id;
    std::int64_t seq = 0;  // None if it was there before.
    bool is_taken = false;
};

class inbox_sql final : public inbox_changes<driver> {
public:
    explicit inbox_sql(connection& database);

    result<bool> insert(const inbox_record& record) override;

    /// Inserts the rows of a group at once; the units that insert them one by one then are told
    /// what became of them.
    result<> insert_ahead(std::span<const inbox_record> rows);
    /// Forgets them. False if there is one that no unit has inserted, and that must not stay.
    bool end_ahead();

private:
    row_ahead* find_ahead(const inbox_key& key);

    statement insert_all_;
    std::vector<row_ahead> ahead_;  // In the order of their keys.
};

}  // namespace posthorn::postgres
