#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/node/declared_uses.hpp"
#include "app/node/node_core.hpp"
#include "outbox/lane/route_source.hpp"
#include "outbox/lane/route_table.hpp"

namespace posthorn {

/// The transports that a node's routes name.
///
/// Lifetime: as the node's. A transport that is no longer named stays until then, since an attempt
///           may be under way on it.
/// Threads:  the dispatcher's strand, which is the network executor.
class node_core::routes final : public route_table {
public:
    /// `error_code::invalid_configuration` for a route that no transport understands.
    static result<std::unique_ptr<routes>> make(const core_options& options,
                                                const node_seams& seams);

    /// All of them, or none if one cannot be used. Ways that stay the same keep their connections.
    result<> replace(core_routes named, std::optional<core_route> default_route);

    /// Asked after the named routes and before the default. Outlives this.
    void add(route_source& from) { sources_.push_back(&from); }

    transport* find(std::string_view destination) override;
    [[nodiscard]] route_limits limits(std::string_view destination) const override;
    [[nodiscard]] route_facts facts_of(std::string_view destination) const;

private:
    struct way {
        core_route route;
        std::shared_ptr<transport> by;
    };
    using ways = std::map<std::string, way, std::less<>>;

    routes(inprocess_hub& hub, connector* connects) : hub_(hub), connector_(connects) {}
    [[nodiscard]] result<way> connect(const std::string& destination,
                                      const core_route& route) const;
    [[nodiscard]] std::optional<core_route> default_for(std::string_view destination) const;

    inprocess_hub& hub_;
    connector* connector_;
    std::vector<route_source*> sources_;  // Of features.
    std::optional<core_route> default_route_;
    ways named_;
    ways by_default_;  // Made when they are first asked for.
    std::vector<std::shared_ptr<transport>> retired_;
};

}  // namespace posthorn
