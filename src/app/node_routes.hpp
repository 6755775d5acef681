#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/declared_uses.hpp"
#include "app/node_core.hpp"
#include "outbox/route_table.hpp"

namespace posthorn {

/// The transports that a node's routes name.
///
/// Lifetime: as the node's.
/// Threads:  the dispatcher's strand.
class node_core::routes final : public route_table {
public:
    /// `error_code::invalid_configuration` for a route that no transport understands.
    static result<std::unique_ptr<routes>> make(const core_options& options, inprocess_hub& hub);

    transport* find(std::string_view destination) override;
    [[nodiscard]] route_facts facts_of(std::string_view destination) const;

private:
    explicit routes(inprocess_hub& hub) : hub_(hub) {}
    static result<> check(std::string_view destination, std::string_view route);

    inprocess_hub& hub_;
    bool has_default_ = false;
    std::map<std::string, std::unique_ptr<transport>, std::less<>> by_destination_;
};

}  // namespace posthorn
