#pragma once

#include <map>
#include <string>

#include <posthorn/detail/time.hpp>

#include "sim/checks/checks.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sim {

/// What is left of a service.
struct remains {
    const fault_disk* disk = nullptr;
    wall_time latest{};  // That its clock ever showed.
};

/// Reads the databases of all services with plain SQLite, looks for damage, and checks the rest.
/// Nothing runs on them any more.
tally check_remains(const std::map<std::string, remains>& services, ledger& book);

}  // namespace posthorn::sim
