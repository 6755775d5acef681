#pragma once

#include <map>

#include "store/old_rows.hpp"
#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// Old rows on the writer's connection. The server takes the room of deleted rows back by itself.
///
/// Sent messages are found in the order of their numbers, since no index knows when they were sent;
/// a look goes on where the one before ended, and begins anew after the last.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class old_rows_sql final : public old_rows {
public:
    explicit old_rows_sql(connection& database);

    result<slice_outcome> purge(row_kind kind, wall_time before, const slice& room) override;
    result<slice_outcome> give_back(const slice&) override { return slice_outcome{}; }

private:
    struct found {
        std::vector<std::int64_t> keys;
        bool more = false;
    };
    result<found> find(row_kind kind, wall_time before, std::size_t limit);
    result<found> find_sent(wall_time before, std::size_t limit);
    result<> remove(row_kind kind, std::span<const std::int64_t> keys);

    statement find_sent_;
    statement find_closed_;
    statement find_received_;
    statement find_changes_;
    statement remove_message_;
    statement remove_closed_message_;
    statement remove_closed_;
    statement remove_received_;
    statement remove_changes_;
    std::int64_t sent_after_ = 0;
};

}  // namespace posthorn::postgres
