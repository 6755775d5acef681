#pragma once

#include <cstdint>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/old_rows_purge.hpp"

namespace posthorn::postgres {

/// Sent messages are found in the order of their numbers, since no index knows when they were sent;
/// a look goes on where the one before ended, and begins anew after the last.
class old_rows_sql final : public old_rows_purge<driver> {
public:
    using old_rows_purge::old_rows_purge;

private:
    result<found> find_sent(wall_time before, std::size_t limit) override;

    std::int64_t sent_after_ = 0;
};

}  // namespace posthorn::postgres
