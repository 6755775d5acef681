#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/rules/closed_account.hpp"

namespace posthorn::postgres {

/// Appends to `changes`, in the open transaction, what a timeline shows and a standby follows.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class change_log {
public:
    explicit change_log(connection& database);

    /// With the next statement of the transaction.
    result<> append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at);

private:
    statement insert_;
};

class closed_messages final : public closed_account<driver> {
public:
    explicit closed_messages(connection& database);

private:
    result<> write(std::int64_t seq, outbox_status status, wall_time at,
                   std::optional<std::int64_t> cause_id) override;

    statement set_;
};

}  // namespace posthorn::postgres
