#pragma once

#include <vector>

#include "app/config/config_table.hpp"
#include "feature/feature.hpp"

namespace posthorn {

/// The keys of all features' sections, as lines of the table of keys.
[[nodiscard]] std::vector<key_row> feature_rows();

/// The values of one feature's section, its defaults where nothing was set.
[[nodiscard]] feature_settings settings_of(const config& settings, const feature& of);

}  // namespace posthorn
