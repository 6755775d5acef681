#pragma once

#include <cstdint>

#include "base/text/joined.hpp"
#include "store/rules/change_log.hpp"
#include "store/rules/order_rules.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn::sqlite {

/// Whether a row has to wait for an earlier one of its order key; no row if it has none.
inline constexpr auto ask_blocked = joined("SELECT ", follower_is_blocked, R"sql(
    FROM outbox_messages AS follower WHERE seq = ? AND order_key <> '')sql");
result<bool> run_ask_blocked(statement& asked, std::int64_t seq);

class order_keys final : public order_rules<driver, change_log<driver>> {
public:
    order_keys(connection& database, services with);

    result<bool> is_blocked(std::int64_t seq) { return run_ask_blocked(is_blocked_, seq); }
    /// Parks a pending row, if something blocks it; false otherwise.
    result<bool> park(std::int64_t seq);

private:
    statement is_blocked_;
    statement park_;
};

}  // namespace posthorn::sqlite
