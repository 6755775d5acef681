#pragma once

#include <vector>

#include "admin/store_report.hpp"
#include "app/config/config.hpp"
#include "base/time/clock.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What a running node tells of how it keeps its data. Reads the databases, and blocks.
[[nodiscard]] store_report report_on_store(const config& settings,
                                           const std::vector<store*>& stores,
                                           std::vector<sqlite::backup_state> backups,
                                           const clock& time);

}  // namespace posthorn
