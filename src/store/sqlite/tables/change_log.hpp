#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time/clock.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Appends to `changes`, in the open transaction, what a timeline shows and a standby follows.
class change_log {
public:
    explicit change_log(connection& database);

    result<> append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at);

private:
    statement insert_;
};

}  // namespace posthorn::sqlite
