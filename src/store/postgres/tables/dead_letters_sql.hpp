#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/neighbours.hpp"
#include "store/rules/dead_letter_rows.hpp"

namespace posthorn::postgres {

class dead_letters_sql final : public dead_letter_rows<driver, neighbours> {
public:
    dead_letters_sql(connection& database, const message_limits& limits, const neighbours& others);

private:
    result<> write(std::int64_t seq, const message& body) override;

    statement edit_;
};

}  // namespace posthorn::postgres
