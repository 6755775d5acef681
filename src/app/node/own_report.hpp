#pragma once

#include <functional>
#include <vector>

#include "admin/store_report.hpp"
#include "app/config/config.hpp"
#include "base/time/clock.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What a node finds weak about its own set-up; doctor gives it, which stands above nodes.
using own_findings =
    std::function<std::vector<store_finding>(const config& settings, const clock& time)>;

/// What a running node tells of how it keeps its data, without findings: those are doctor's. Reads
/// the databases, and blocks.
[[nodiscard]] store_report report_on_store(const config& settings,
                                           const std::vector<store*>& stores,
                                           std::vector<sqlite::backup_state> backups);

}  // namespace posthorn
