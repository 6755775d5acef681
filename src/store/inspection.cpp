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

}  // namespace posthorn
