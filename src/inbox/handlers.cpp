#include "inbox/handlers.hpp"

#include <utility>

namespace posthorn {

result<> handlers::add(std::string endpoint, handler added) {
    if (frozen_)
        return fail(error_code::invalid_argument,
                    "a handler for {} comes too late; add handlers before the node starts",
                    endpoint);
    if (endpoint.empty())
        return fail(error_code::invalid_argument, "a handler needs the name of its endpoint");
    const auto is_empty = [](const auto& run) { return !run; };
    if (std::visit(is_empty, added.run))
        return fail(error_code::invalid_argument, "the handler for {} is empty", endpoint);
    if (by_endpoint_.contains(endpoint))
        return fail(error_code::invalid_argument, "{} has a handler already; remove one of the two",
                    endpoint);
    by_endpoint_.emplace(std::move(endpoint), std::move(added));
    return {};
}

const handler* handlers::find(std::string_view endpoint) const {
    const auto found = by_endpoint_.find(endpoint);
    return found == by_endpoint_.end() ? nullptr : &found->second;
}

}  // namespace posthorn
