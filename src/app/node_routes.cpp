#include "app/node_routes.hpp"

namespace posthorn {

result<> node_core::routes::check(std::string_view destination, std::string_view route) {
    if (route == "inprocess:") return {};
    return fail(error_code::invalid_configuration,
                "the route '{}' of '{}' is not understood; write inprocess:", route, destination);
}

result<std::unique_ptr<node_core::routes>> node_core::routes::make(const core_options& options,
                                                                   inprocess_hub& hub) {
    std::unique_ptr<routes> made(new routes(hub));
    for (const auto& [destination, route] : options.routes) {
        POSTHORN_TRY(check(destination, route));
        made->by_destination_[destination] =
            std::make_unique<inprocess_transport>(hub, destination);
    }
    if (!options.default_route.empty())
        POSTHORN_TRY(check("every other destination", options.default_route));
    made->has_default_ = !options.default_route.empty();
    return made;
}

route_facts node_core::routes::facts_of(std::string_view destination) const {
    // Every route there is stays in this process.
    return {.exists = has_default_ || by_destination_.contains(destination)};
}

transport* node_core::routes::find(std::string_view destination) {
    const auto found = by_destination_.find(destination);
    if (found != by_destination_.end()) return found->second.get();
    if (!has_default_) return nullptr;
    auto made = std::make_unique<inprocess_transport>(hub_, std::string(destination));
    return by_destination_.emplace(destination, std::move(made)).first->second.get();
}

}  // namespace posthorn
