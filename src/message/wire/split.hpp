#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace posthorn {

/// `{"messages":[…]}` taken apart, before anything in it is looked at closely.
struct split_rules {
    std::string_view field;  // In camelCase; PascalCase is taken too.
    std::size_t elements_max;
};

/// The text of each element of the list, which must itself be read before it is believed; an
/// element that is not an object is empty. `error_code::malformed_request` if there is no such
/// list, `message_too_large` if it is too long.
[[nodiscard]] result<std::vector<std::string_view>> split_list(std::string_view json,
                                                               const split_rules& rules);

}  // namespace posthorn
