#pragma once

#include <vector>

#include "feature/feature.hpp"

namespace posthorn {

/// Every feature of the program. A new one is a line of this list, in features.cpp.
[[nodiscard]] feature_list all_features() noexcept;

/// The tables of all of them, for code that opens a store.
[[nodiscard]] std::vector<table_set> tables_of_features();

}  // namespace posthorn
