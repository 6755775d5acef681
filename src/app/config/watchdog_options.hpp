#pragma once

#include <chrono>

namespace posthorn {

/// How long a unit may take before health turns red, and before the process stops.
struct watchdog_options {
    std::chrono::milliseconds look_interval = std::chrono::seconds{1};
    std::chrono::milliseconds red_after = std::chrono::seconds{10};
    std::chrono::milliseconds stop_after = std::chrono::seconds{60};
};

}  // namespace posthorn
