#include "store/inspection.hpp"

#include <algorithm>

namespace posthorn {

bounded_count up_to(std::int64_t counted, std::int64_t at_most) noexcept {
    return {std::min(counted, at_most), counted > at_most};
}

bool is_undeliverable_error(std::string_view text) noexcept {
    return text.starts_with("no route to ") || text.starts_with("no_handler") ||
           text.starts_with("secret_unavailable");
}

bool fits(const inbox_summary& one, const inbox_filter& wanted) noexcept {
    if (!wanted.source.empty() && one.source != wanted.source) return false;
    if (!wanted.endpoint.empty() && one.endpoint != wanted.endpoint) return false;
    if (wanted.processed && one.processed_at.has_value() != *wanted.processed) return false;
    if (!wanted.since && !wanted.until) return true;
    if (!one.processed_at) return false;
    if (wanted.since && *one.processed_at < *wanted.since) return false;
    return !wanted.until || *one.processed_at < *wanted.until;
}

}  // namespace posthorn
