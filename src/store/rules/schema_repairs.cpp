#include "store/rules/schema_repairs.hpp"

namespace posthorn {

result<> require_data(std::span<const lost_data> lost, std::string_view from) {
    if (lost.empty()) return {};
    return fail(error_code::store_corrupt, "{}, which Posthorn needs, was dropped{}{}; {}",
                lost.front().what, from.empty() ? "" : " from ", from, lost.front().todo);
}

}  // namespace posthorn
