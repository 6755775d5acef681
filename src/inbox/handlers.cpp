#include "inbox/handlers.hpp"

#include <algorithm>
#include <utility>

namespace posthorn {

bool handlers::is_empty(const handler& one) {
    return std::visit([](const auto& run) { return !run; }, one.run);
}

result<> handlers::check(std::string_view endpoint, const handler& added) const {
    if (frozen_)
        return fail(error_code::invalid_argument,
                    "a handler for {} comes too late; add handlers before the node starts",
                    endpoint);
    if (endpoint.empty())
        return fail(error_code::invalid_argument, "a handler needs the name of its endpoint");
    if (is_empty(added))
        return fail(error_code::invalid_argument, "the handler for {} is empty", endpoint);
    return {};
}

result<> handlers::add(std::string endpoint, handler added) {
    POSTHORN_TRY(check(endpoint, added));
    if (by_endpoint_.contains(endpoint))
        return fail(error_code::invalid_argument, "{} has a handler already; remove one of the two",
                    endpoint);
    by_endpoint_.emplace(std::move(endpoint), std::move(added));
    return {};
}

result<> handlers::add_response(std::string endpoint, handler added) {
    POSTHORN_TRY(check(endpoint, added));
    if (responses_.contains(endpoint))
        return fail(error_code::invalid_argument,
                    "responses to {} have a handler already; remove one of the two", endpoint);
    responses_.emplace(std::move(endpoint), std::move(added));
    return {};
}

result<std::size_t> handlers::offer(const detail::service_info& service) {
    if (frozen_)
        return fail(error_code::invalid_argument,
                    "{} is offered too late; offer services before the node starts", service.name);
    const auto is_same = [&](const offered_service& one) { return one.what.name == service.name; };
    if (std::ranges::any_of(services_, is_same))
        return fail(error_code::invalid_argument, "{} is offered already; remove one of the two",
                    service.name);
    services_.push_back({service, std::vector<handler>(service.endpoints.size())});
    return services_.size() - 1;
}

result<> handlers::add_to_service(std::size_t service, std::size_t position, handler added) {
    auto& to = services_.at(service);
    const auto endpoint = to.what.endpoints[position];
    POSTHORN_TRY(check(endpoint, added));
    if (!is_empty(to.by_position[position]))
        return fail(error_code::invalid_argument, "{} has a handler already; remove one of the two",
                    endpoint);
    to.by_position[position] = std::move(added);
    return {};
}

result<> handlers::complete() const {
    for (const auto& service : services_) {
        const auto missing = std::ranges::find_if(service.by_position, is_empty);
        if (missing == service.by_position.end()) continue;
        const auto position = static_cast<std::size_t>(missing - service.by_position.begin());
        return fail(error_code::invalid_configuration,
                    "{} is offered but nothing handles {}; add a handler for it before the node "
                    "starts, or take it out of the service",
                    service.what.name, service.what.endpoints[position]);
    }
    return {};
}

const handler* handlers::find(const message& what) const {
    if (what.type != message_type::response) return find(what.endpoint);
    for (const auto& [beginning, one] : correlated_)
        if (what.correlation_id.starts_with(beginning)) return &one;
    if (const auto found = responses_.find(what.endpoint); found != responses_.end())
        return &found->second;
    if (const auto found = by_endpoint_.find(what.endpoint);
        found != by_endpoint_.end() && found->second.takes_responses)
        return &found->second;
    return is_empty(replies_) ? nullptr : &replies_;
}

const handler* handlers::find(std::string_view endpoint) const {
    for (const auto& service : services_) {
        const auto position = service.what.index_of(endpoint);
        if (position < service.by_position.size()) return &service.by_position[position];
    }
    const auto found = by_endpoint_.find(endpoint);
    return found == by_endpoint_.end() ? nullptr : &found->second;
}

std::vector<detail::service_info> handlers::offered() const {
    std::vector<detail::service_info> all;
    for (const auto& each : services_) all.push_back(each.what);
    return all;
}

std::vector<std::string> handlers::endpoints() const {
    std::vector<std::string> all;
    for (const auto& [endpoint, one] : by_endpoint_) all.push_back(endpoint);
    std::ranges::sort(all);
    return all;
}

}  // namespace posthorn
