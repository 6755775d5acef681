#pragma once

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "store/inspection.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// To the one row of an aggregate, which always comes.
inline result<> step_to_row(statement& query) {
    POSTHORN_LET(row, query.step());
    POSTHORN_ASSERT(row);
    return {};
}

/// A count that was stopped one past its limit.
inline bounded_count up_to(std::int64_t counted, std::int64_t at_most) {
    return {std::min(counted, at_most), counted > at_most};
}

}  // namespace posthorn::sqlite
