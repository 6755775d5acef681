#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/node/declared_uses.hpp"
#include "app/node/node_core.hpp"
#include "outbox/lane/route_order.hpp"
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
    void add(route_source& from) { order_.add(from); }

    transport* find(std::string_view destination) override { return order_.find(destination); }
    [[nodiscard]] route_limits limits(std::string_view destination) const override {
        return order_.limits(destination);
    }
    [[nodiscard]] std::vector<drop_order> take_drops() override { return order_.take_drops(); }
    [[nodiscard]] route_facts facts_of(std::string_view destination) const;

private:
    struct way {
        core_route route;
        std::shared_ptr<transport> by;
    };
    using ways = std::map<std::string, way, std::less<>>;

    /// Those that the configuration names.
    struct named_routes final : route_source {
        transport* find(std::string_view destination) override;
        [[nodiscard]] std::optional<route_limits> limits(
            std::string_view destination) const override;

        ways all;
    };
    /// The one for every other destination.
    struct default_routes final : route_source {
        explicit default_routes(const routes& by) : made_by(by) {}

        transport* find(std::string_view destination) override;
        [[nodiscard]] std::optional<route_limits> limits(std::string_view) const override;
        [[nodiscard]] std::optional<core_route> to(std::string_view destination) const;

        const routes& made_by;
        std::optional<core_route> route;
        ways made;  // When they are first asked for.
    };

    routes(inprocess_hub& hub, connector* connects) : hub_(hub), connector_(connects) {}
    [[nodiscard]] result<way> connect(const std::string& destination,
                                      const core_route& route) const;

    inprocess_hub& hub_;
    connector* connector_;
    named_routes named_;
    default_routes default_{*this};
    route_order order_{named_, default_};
    std::vector<std::shared_ptr<transport>> retired_;
};

}  // namespace posthorn
