#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/postgres/driver/connection.hpp"

namespace posthorn::postgres {

/// Appends to `changes`, in the open transaction, what a timeline shows and a standby follows.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class change_log {
public:
    explicit change_log(connection& database);

    /// With the next statement of the transaction.
    void append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at);

private:
    statement insert_;
};

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
    struct cause {
        std::string destination;
        std::string endpoint;
        std::string text;
    };
    result<std::int64_t> cause_of(std::int64_t seq, wall_time at);
    result<std::int64_t> find_or_add(const cause& of, wall_time at);
    result<bool> is_full();

    statement set_;
    statement message_;
    statement find_;
    statement count_;
    statement drop_unused_;
    statement insert_;
    statement ungrouped_;
    int full_for_ = 0;  // So many more causes are `other` without a look.
};

}  // namespace posthorn::postgres
