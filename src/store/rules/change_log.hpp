#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "store/rows/stored_time.hpp"
#include "store/rules/seq_ranges.hpp"
#include "store/statements/change_log_sql.hpp"

namespace posthorn {

/// Appends to `changes`, in the open transaction, what a timeline shows and a standby follows.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
template <class Driver>
class change_log {
public:
    explicit change_log(typename Driver::connection& database)
        : insert_(database, change_log_text) {}

    result<> append(std::string_view kind, std::vector<std::int64_t> seqs, wall_time at) {
        if (seqs.empty()) return {};
        const auto ranges = to_ranges(std::move(seqs));
        return Driver::soon(insert_, to_ms(at), kind, ranges);
    }

private:
    typename Driver::statement insert_;
};

}  // namespace posthorn
