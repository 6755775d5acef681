#pragma once

#include <cstdint>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/beside_walk.hpp"
#include "store/rules/old_rows_purge.hpp"

namespace posthorn::postgres {

/// Old rows on the writer's connection. The server takes the room of deleted rows back by itself.
///
/// Sent messages are found in the order of their numbers, since no index knows when they were sent;
/// a look goes on where the one before ended, and begins anew after the last.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class old_rows_sql final : public old_rows_purge<driver> {
public:
    old_rows_sql(connection& database, const clock& time);

    result<slice_outcome> give_back(const slice&) override { return slice_outcome{}; }
    result<slice_outcome> mend_beside(const slice& room) override {
        return beside_.go_on(time_.wall(), room);
    }

private:
    result<found> find_sent(wall_time before, std::size_t limit) override;
    result<std::size_t> remove_sent(numbers keys) override {
        return rows_changed(remove_message_, keys);
    }

    statement find_sent_;
    statement remove_message_;
    const clock& time_;
    beside_walk<driver> beside_;
    std::int64_t sent_after_ = 0;
};

}  // namespace posthorn::postgres
