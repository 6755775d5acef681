#pragma once

#include <functional>
#include <string>
#include <vector>

#include "admin/store_report.hpp"
#include "app/config/config.hpp"
#include "app/doctor/doctor.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

struct gather_options {
    bool full = false;          // Look at every index of the database too.
    std::string config_file{};  // None if only a database was named.
    /// Waits a moment, for a lock that is let go of for less than that.
    std::function<void(std::chrono::nanoseconds)> rest{};
};

/// Looks at a node's configuration, its database and the machine, and changes nothing; whether the
/// node runs or not, but not from inside it: see file_locks.hpp.
[[nodiscard]] doctor_facts gather_facts(const config& settings, const gather_options& options,
                                        const clock& time);

/// What a node may ask of itself, for the checks that are `by_node`: nothing is opened or locked.
[[nodiscard]] doctor_facts gather_own_facts(const config& settings, const clock& time);
/// What those checks find.
[[nodiscard]] std::vector<store_finding> find_in_own(const config& settings, const clock& time);

}  // namespace posthorn
