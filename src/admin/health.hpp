#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "transport/http/router.hpp"

namespace posthorn {

/// How a node is, in the colours that monitoring shows.
enum class health_status : std::uint8_t {
    green,   // Does its work.
    yellow,  // Does its work, but a person should look.
    red,     // Does not do its work.
};

[[nodiscard]] std::string_view to_string(health_status status) noexcept;

struct health_report {
    health_status status = health_status::green;
    std::string service;
    std::string version;
};

/// The report as one JSON object.
[[nodiscard]] std::string render_health(const health_report& report);

/// Adds `GET /_rf/health`: 200 with the report, 503 if it is red. `current` is asked each time.
void add_health_route(router& routes, std::function<health_report()> current);

}  // namespace posthorn
