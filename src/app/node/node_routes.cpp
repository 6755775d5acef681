#include "app/node/node_routes.hpp"

#include <algorithm>

#include "app/config/route_url.hpp"

namespace posthorn {
namespace {

std::unexpected<error> not_understood(std::string_view destination, const core_route& route,
                                      std::string_view why) {
    const auto where = route.origin.empty() ? std::string{} : route.origin + ": ";
    return fail(error_code::invalid_configuration, "{}the route of '{}': {}", where, destination,
                why);
}

/// Whether a name may stand in a URL: one that could lead elsewhere than the route says may not.
bool is_plain(std::string_view destination) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '-' || each == '_' || each == '.';
    };
    return !destination.starts_with('.') && std::ranges::all_of(destination, fits);
}

}  // namespace

result<node_core::routes::way> node_core::routes::connect(const std::string& destination,
                                                          const core_route& route) const {
    if (route.url == "inprocess:")
        return way{route, std::make_shared<inprocess_transport>(hub_, destination)};
    if (connector_ == nullptr)
        return not_understood(destination, route, "nothing leaves this process; write inprocess:");
    auto made = connector_->connect(destination, route);
    if (!made) return not_understood(destination, route, made.error().what());
    return way{route, *std::move(made)};
}

result<std::unique_ptr<node_core::routes>> node_core::routes::make(const core_options& options,
                                                                   const node_seams& seams) {
    std::unique_ptr<routes> made(new routes(seams.hub, seams.connector));
    POSTHORN_TRY(made->replace(options.routes, options.default_route));
    return made;
}

result<> node_core::routes::replace(core_routes named, std::optional<core_route> default_route) {
    ways fresh;
    for (const auto& [destination, route] : named) {
        const auto old = named_.all.find(destination);
        if (old != named_.all.end() && old->second.route.is_same_endpoint(route)) {
            fresh.emplace(destination, way{route, old->second.by});
            continue;
        }
        POSTHORN_LET(made, connect(destination, route));
        fresh.emplace(destination, std::move(made));
    }
    // Whether it is understood at all shows with any name.
    if (default_route) {
        auto probe = *default_route;
        probe.url = for_service(probe.url, "any");
        if (auto made = connect("every other destination", probe); !made)
            return std::unexpected(std::move(made).error());
    }
    const bool same_default = default_route.has_value() == default_.route.has_value() &&
                              (!default_route || default_route->is_same_endpoint(*default_.route));
    for (const auto& [destination, old] : named_.all) retired_.push_back(old.by);
    named_.all = std::move(fresh);
    std::erase_if(retired_, [this](const auto& old) {
        return std::ranges::any_of(named_.all,
                                   [&](const auto& each) { return each.second.by == old; });
    });
    if (!same_default) {
        for (const auto& [destination, old] : default_.made) retired_.push_back(old.by);
        default_.made.clear();
    }
    default_.route = std::move(default_route);
    return {};
}

route_facts node_core::routes::facts_of(std::string_view destination) const {
    const auto found = named_.all.find(destination);
    // A feature says itself what it lacks.
    if (found == named_.all.end() && order_.has_feature_to(destination)) return {.exists = true};
    const auto route =
        found != named_.all.end() ? std::optional(found->second.route) : default_.to(destination);
    if (!route) return {};
    const bool signs =
        connector_ != nullptr && route->url != "inprocess:" && connector_->signs(*route);
    return {.exists = true,
            .leaves_process = signs,
            .has_secret = signs && connector_->has_secret(destination)};
}

transport* node_core::routes::named_routes::find(std::string_view destination) {
    const auto found = all.find(destination);
    return found == all.end() ? nullptr : found->second.by.get();
}

std::optional<route_limits> node_core::routes::named_routes::limits(
    std::string_view destination) const {
    const auto found = all.find(destination);
    if (found == all.end()) return std::nullopt;
    return found->second.route.limits;
}

std::optional<core_route> node_core::routes::default_routes::to(
    std::string_view destination) const {
    if (!route) return std::nullopt;
    auto made_for = *route;
    if (made_for.url != "inprocess:" && !is_plain(destination)) return std::nullopt;
    made_for.url = for_service(made_for.url, destination);
    return made_for;
}

transport* node_core::routes::default_routes::find(std::string_view destination) {
    if (const auto found = made.find(destination); found != made.end())
        return found->second.by.get();
    const auto leads = to(destination);
    if (!leads) return nullptr;
    auto connected = made_by.connect(std::string(destination), *leads);
    if (!connected) return nullptr;  // With this name the URL is none.
    return made.emplace(destination, *std::move(connected)).first->second.by.get();
}

std::optional<route_limits> node_core::routes::default_routes::limits(std::string_view) const {
    if (!route) return std::nullopt;
    return route->limits;
}

}  // namespace posthorn
