#pragma once

#include "store/rules/dead_letter_rows.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/neighbours.hpp"

namespace posthorn::sqlite {

class dead_letters_sql final : public dead_letter_rows<driver, neighbours> {
public:
    dead_letters_sql(connection& database, const message_limits& limits, const neighbours& others);

private:
    result<> write(std::int64_t seq, const message& body) override;

    statement edit_;
};

}  // namespace posthorn::sqlite
