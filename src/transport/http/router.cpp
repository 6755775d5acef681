#include "transport/http/router.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace posthorn {
namespace {

bool answers(std::string_view route_method, std::string_view method) {
    return route_method == method || (route_method == "GET" && method == "HEAD");
}

http_response refuse(const router::wrong_method& refusal, const http_request& request) {
    auto response = error_response(405, "method_not_allowed",
                                   fmt::format("{} is not possible on {}; use {}", request.method,
                                               request.path, refusal.allow));
    response.headers.add("Allow", refusal.allow);
    return response;
}

}  // namespace

void router::add(std::string method, std::string path, http_handler handler) {
    POSTHORN_ASSERT(path.starts_with('/'));
    POSTHORN_ASSERT(!std::ranges::any_of(
        routes_, [&](const route& each) { return each.method == method && each.path == path; }));
    routes_.push_back({std::move(method), std::move(path), std::move(handler)});
}

router::match router::find(std::string_view method, std::string_view path) const {
    std::string allow;
    for (const route& each : routes_) {
        if (each.path != path) continue;
        if (answers(each.method, method)) return &each.handler;
        if (!allow.empty()) allow += ", ";
        allow += each.method == "GET" ? "GET, HEAD" : each.method;
    }
    if (allow.empty()) return not_found{};
    return wrong_method{allow};
}

task<http_response> router::handle(http_request request) const {
    const match found = find(request.method, request.path);
    if (const auto* handler = std::get_if<const http_handler*>(&found))
        co_return co_await (**handler)(std::move(request));
    if (const auto* refusal = std::get_if<wrong_method>(&found))
        co_return refuse(*refusal, request);
    co_return error_response(404, "not_found", fmt::format("nothing is at {}", request.path));
}

}  // namespace posthorn
