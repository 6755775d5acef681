#include "store/rules/known_steps.hpp"

#include <algorithm>

namespace posthorn {

result<> require_known(const migration_set& set, std::int64_t step) {
    const int known = set.steps.empty() ? 0 : set.steps.back().number;
    if (step <= known) return {};
    return fail(error_code::store_too_new,
                "the tables of '{}' are at step {}, this Posthorn knows {}; run the newer Posthorn "
                "that made them, or restore a backup from before",
                set.folder, step, known);
}

std::vector<migration_set> taken_of(std::span<const migration_set> sets,
                                    const newest_steps& newest) {
    std::vector<migration_set> taken;
    for (const auto& set : sets) {
        const auto found = newest.find(set.folder);
        const auto steps = found == newest.end() ? 0 : std::max<std::int64_t>(found->second, 0);
        taken.push_back({set.folder, set.steps.first(std::min(set.steps.size(),
                                                              static_cast<std::size_t>(steps)))});
    }
    return taken;
}

}  // namespace posthorn
