#include "engine/steps/verify.hpp"

#include <algorithm>
#include <vector>

#include "engine/steps/loading.hpp"

namespace posthorn {

bool is_verified(std::int64_t steps_since, std::int64_t history, std::int64_t every) {
    return every > 0 && steps_since >= std::max(every, history);
}

std::optional<std::string> find_own_difference(store& where, const frame& one) {
    instance_row of = one.of;
    std::vector<recorded_step> history;
    const auto read = where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(row, find_instance(from, of.instance));
        if (row) of = *row;
        POSTHORN_LET(steps, read_history(from, of));
        history = std::move(steps);
        return {};
    });
    // Another version, or the next run, is as good.
    if (!read || of.run != one.of.run || of.version != one.of.version) return {};
    const auto same = build_frame_of(*one.code, of, history);
    if (same) return {};
    return same.error();
}

}  // namespace posthorn
