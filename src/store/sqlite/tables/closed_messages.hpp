#pragma once

#include <cstdint>
#include <string_view>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Keeps when messages were given up or closed, and dead ones by their cause, in the open
/// transaction. A trigger has made the row; it knows neither the clock of the node nor the cause.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class closed_messages {
public:
    explicit closed_messages(connection& database);

    /// Of a message that is `status` by now.
    result<> record(std::int64_t seq, outbox_status status, wall_time at);
    /// Dead ones without a cause get theirs; gives their number.
    result<std::int64_t> group_some(std::size_t limit);

private:
    result<std::int64_t> cause_of(std::int64_t seq, wall_time at);
    result<std::int64_t> find_or_add(std::string_view destination, std::string_view endpoint,
                                     std::string_view cause, wall_time at);
    result<bool> is_full();

    statement set_;
    statement add_;
    statement message_;
    statement find_;
    statement count_;
    statement drop_unused_;
    statement insert_;
    statement ungrouped_;
    int full_for_ = 0;  // So many more causes are `other` without a look.
};

}  // namespace posthorn::sqlite
