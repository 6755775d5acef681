#include "store/postgres/commit/foreign_statements.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

result<rows> foreign_statements::run(std::string_view sql, values with) {
    constexpr std::string_view feature_not_supported = "0A000";
    const auto found = recall(sql, with);
    POSTHORN_TRY(found);
    if (*found == nullptr) return database_.run_once(numbered(sql), std::move(with));
    auto& one = **found;
    if (!std::exchange(one.came_again, true) || one.is_unfit)
        return database_.run_once(one.sql, std::move(with));
    auto answer = one.prepared.run_with(std::move(with));
    if (!answer && database_.last_state() == feature_not_supported) one.is_unfit = true;
    if (answer) one.gives_no_rows = answer->columns() == 0;
    return answer;
}

bool foreign_statements::defer(std::string_view sql, values& with) {
    const auto at = known_.find(sql);
    if (at == known_.end()) return false;
    auto& one = at->second;
    if (!one.gives_no_rows || one.is_unfit || with.has_zero_byte() || with.has_borrowed() ||
        !is_for(one, with))
        return false;
    one.prepared.defer_with(std::move(with));
    return true;
}

bool foreign_statements::is_for(const known& one, const values& with) {
    return std::ranges::equal(one.types,
                              std::span(with.types(), static_cast<std::size_t>(with.size())));
}

// Nothing for one that is not kept.
result<foreign_statements::known*> foreign_statements::recall(std::string_view sql,
                                                              const values& with) {
    if (const auto at = known_.find(sql); at != known_.end())
        return is_for(at->second, with) ? &at->second : nullptr;
    POSTHORN_TRY(require_allowed(sql));
    if (known_.size() >= known_max) make_room();
    if (known_.size() >= known_max) return nullptr;
    known one{.sql = numbered(sql), .types = {with.types(), with.types() + with.size()}};
    one.prepared = database_.prepare_foreign(one.sql, one.types);
    return &known_.emplace(sql, std::move(one)).first->second;
}

// Those that came once go; the server knows nothing of them.
void foreign_statements::make_room() {
    std::erase_if(known_, [](const auto& each) { return !each.second.came_again; });
}

}  // namespace posthorn::postgres
