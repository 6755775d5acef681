#include "admin/health.hpp"

#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/assert.hpp"

namespace posthorn {

std::string_view to_string(health_status status) noexcept {
    switch (status) {
        case health_status::green: return "green";
        case health_status::yellow: return "yellow";
        case health_status::red: return "red";
    }
    POSTHORN_ASSERT(false);
    return {};
}

std::string render_health(const health_report& report) {
    return boost::json::serialize(boost::json::object{{"status", to_string(report.status)},
                                                      {"service", report.service},
                                                      {"version", report.version}});
}

namespace {

task<http_response> answer(health_report report) {
    const bool red = report.status == health_status::red;
    co_return json_response(red ? 503 : 200, render_health(report));
}

}  // namespace

void add_health_route(router& routes, std::function<health_report()> current) {
    routes.add("GET", "/_rf/health",
               [current = std::move(current)](const http_request&) { return answer(current()); });
}

}  // namespace posthorn
