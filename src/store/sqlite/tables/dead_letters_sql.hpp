#pragma once

#include "store/rules/dead_letter_rows.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {

/// What the transaction has beside the messages that were given up.
struct beside_dead_letters {
    change_log& changes;
    closed_messages& closed;
    outbox_sql& keys;
};

class dead_letters_sql final : public dead_letter_rows<driver, beside_dead_letters> {
public:
    dead_letters_sql(connection& database, const message_limits& limits,
                     const beside_dead_letters& others);

private:
    result<> write(std::int64_t seq, const message& body) override;

    statement edit_;
};

}  // namespace posthorn::sqlite
