#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace posthorn {

/// The parts of `10.0.0.0/8, ::1`, without the spaces around them; none that is empty.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace posthorn
