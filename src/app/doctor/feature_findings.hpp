#pragma once

#include <string_view>
#include <vector>

#include "app/config/config.hpp"
#include "app/doctor/doctor.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

struct named_finding {
    std::string_view name;
    finding found;
};

/// What the features find in their tables; nothing is changed there. Left out is what cannot be
/// asked, such as tables that no node has made or brought up to date yet.
[[nodiscard]] std::vector<named_finding> feature_findings(const config& settings,
                                                          const clock& time);

}  // namespace posthorn
