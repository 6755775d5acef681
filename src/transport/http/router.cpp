#include "transport/http/router.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/text/percent.hpp"

namespace posthorn {
namespace {

using parameters = decltype(http_request::parameters);

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

bool is_parameter(std::string_view segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

/// The segments of a path, one after the other.
class segments {
public:
    explicit segments(std::string_view path) : rest_(path.substr(1)) {}

    std::optional<std::string_view> next() {
        if (ended_) return std::nullopt;
        const auto slash = rest_.find('/');
        const auto segment = rest_.substr(0, slash);
        ended_ = slash == rest_.npos;
        rest_.remove_prefix(ended_ ? rest_.size() : slash + 1);
        return segment;
    }

private:
    std::string_view rest_;
    bool ended_ = false;
};

bool has_parameters(std::string_view path) {
    segments parts(path);
    while (const auto segment = parts.next())
        if (is_parameter(*segment)) return true;
    return false;
}

// The parameters of a path that fits the pattern.
std::optional<parameters> fit(std::string_view pattern, std::string_view path) {
    parameters taken;
    segments wanted(pattern);
    segments given(path);
    for (;;) {
        const auto want = wanted.next();
        const auto have = given.next();
        if (!want && !have) return taken;
        if (!want || !have) return std::nullopt;
        if (!is_parameter(*want)) {
            if (*want != *have) return std::nullopt;
            continue;
        }
        auto value = percent_decode(*have);
        if (!value || value->empty()) return std::nullopt;
        taken.emplace(want->substr(1, want->size() - 2), *std::move(value));
    }
}

// The same for both of two patterns that every path fits alike.
std::string shape(std::string_view pattern) {
    std::string text;
    segments parts(pattern);
    while (const auto segment = parts.next()) {
        text += '/';
        text += is_parameter(*segment) ? "{}" : *segment;
    }
    return text;
}

// A method that several routes of a path answer is named once.
void list(std::vector<std::string_view>& allow, std::string_view method) {
    if (std::ranges::find(allow, method) == allow.end()) allow.push_back(method);
    if (method == "GET") list(allow, "HEAD");
}

}  // namespace

void router::add(std::string method, std::string path, http_handler handler) {
    POSTHORN_ASSERT(path.starts_with('/'));
    auto& routes = has_parameters(path) ? patterns_ : exact_;
    POSTHORN_ASSERT(!std::ranges::any_of(routes, [&](const route& each) {
        return each.method == method && shape(each.path) == shape(path);
    }));
    routes.push_back({std::move(method), std::move(path), std::move(handler)});
}

router::match router::find(std::string_view method, std::string_view path) const {
    std::vector<std::string_view> allow;
    for (const route& each : exact_) {
        if (each.path != path) continue;
        if (answers(each.method, method)) return found{&each.handler};
        list(allow, each.method);
    }
    if (!path.starts_with('/')) return not_found{};
    for (const route& each : patterns_) {
        auto taken = fit(each.path, path);
        if (!taken) continue;
        if (answers(each.method, method)) return found{&each.handler, *std::move(taken)};
        list(allow, each.method);
    }
    if (allow.empty()) return not_found{};
    return wrong_method{fmt::format("{}", fmt::join(allow, ", "))};
}

std::vector<std::string> router::known() const {
    std::vector<const route*> all;
    for (const auto& each : exact_) all.push_back(&each);
    for (const auto& each : patterns_) all.push_back(&each);
    std::ranges::sort(all, {},
                      [](const route* each) { return std::tie(each->path, each->method); });
    std::vector<std::string> texts;
    for (const auto* const each : all) texts.push_back(each->method + ' ' + each->path);
    return texts;
}

task<http_response> router::handle(http_request request) const {
    match seen = find(request.method, request.path);
    if (auto* route = std::get_if<found>(&seen)) {
        request.parameters = std::move(route->parameters);
        co_return co_await (*route->handler)(std::move(request));
    }
    if (const auto* refusal = std::get_if<wrong_method>(&seen)) co_return refuse(*refusal, request);
    co_return error_response(404, "not_found", fmt::format("nothing is at {}", request.path));
}

}  // namespace posthorn
