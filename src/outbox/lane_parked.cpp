// What a lane does with rows that wait for an earlier one of their order key.
#include "outbox/lane.hpp"

namespace posthorn {

void lane::park(std::vector<outbox_row> rows, wall_time now) {
    std::vector<settlement> waiting;
    for (const auto& row : rows)
        if (!is_expired(row.body, now) && held_.add(row.seq))
            waiting.push_back(posthorn::park(row, now));
    settle(std::move(waiting));
    std::erase_if(rows, [now](const outbox_row& row) { return !is_expired(row.body, now); });
    expire(std::move(rows));
}

}  // namespace posthorn
