#pragma once

#include <cstdint>
#include <optional>

#include "store/rules/closed_account.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

class closed_messages final : public closed_account<driver> {
public:
    explicit closed_messages(connection& database);

private:
    result<> write(std::int64_t seq, outbox_status status, wall_time at,
                   std::optional<std::int64_t> cause_id) override;

    statement set_;
};

}  // namespace posthorn::sqlite
