#pragma once

#include <vector>

#include "outbox/lane/route_source.hpp"
#include "outbox/lane/route_table.hpp"

namespace posthorn {

/// Asks for the way to a destination, and the first who knows it answers: the fixed routes of the
/// configuration, then the sources of features in the order in which they came, then the default.
/// So what an operator wrote down by name wins, and a default takes nothing from a feature.
///
/// Lifetime: its sources outlive it.
/// Threads:  the dispatcher's strand.
class route_order final : public route_table {
public:
    route_order(route_source& fixed, route_source& by_default)
        : fixed_(fixed), default_(by_default) {}

    /// Of a feature.
    void add(route_source& from) { features_.push_back(&from); }

    /// Whether a feature leads there.
    [[nodiscard]] bool has_feature_to(std::string_view destination) const;

    transport* find(std::string_view destination) override;
    [[nodiscard]] route_limits limits(std::string_view destination) const override;
    [[nodiscard]] std::vector<drop_order> take_drops() override;

private:
    route_source& fixed_;
    std::vector<route_source*> features_;
    route_source& default_;
};

}  // namespace posthorn
