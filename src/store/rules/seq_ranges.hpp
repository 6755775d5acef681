#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace posthorn {

/// `3-9,12` for 3, 4, 5, 6, 7, 8, 9, 12: how the change log names many rows in one.
[[nodiscard]] std::string to_ranges(std::vector<std::int64_t> seqs);

}  // namespace posthorn
