#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/closed_messages.hpp"
#include "store/postgres/tables/order_keys.hpp"
#include "store/rules/dead_letter_rows.hpp"

namespace posthorn::postgres {

/// What the transaction has beside the messages that were given up.
struct beside_dead_letters {
    change_log& changes;
    closed_messages& closed;
    order_keys& keys;
};

class dead_letters_sql final : public dead_letter_rows<driver, beside_dead_letters> {
public:
    dead_letters_sql(connection& database, const message_limits& limits,
                     const beside_dead_letters& others);

private:
    result<> write(std::int64_t seq, const message& body) override;

    statement edit_;
};

}  // namespace posthorn::postgres
