#include "store/rules/known_steps.hpp"

namespace posthorn {

result<> require_known(const migration_set& set, std::int64_t step) {
    const int known = set.steps.empty() ? 0 : set.steps.back().number;
    if (step <= known) return {};
    return fail(error_code::store_too_new,
                "the tables of '{}' are at step {}, this Posthorn knows {}; run the newer Posthorn "
                "that made them, or restore a backup from before",
                set.folder, step, known);
}

}  // namespace posthorn
