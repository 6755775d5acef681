#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admin/gate.hpp"
#include "transport/http/router.hpp"

namespace posthorn {

/// Where the routes of the admin listener are declared: puts each behind the gate, and keeps what
/// it says of itself.
///
/// Lifetime: while routes are added; router and gate outlive the routes.
class admin_surface {
public:
    struct described {
        std::string method;
        std::string path;
        std::optional<admin_role> needs;
        bool open = false;  // It stands before the gate.
        route_doc doc;
    };

    admin_surface(router& routes, admin_gate& gate) : routes_(routes), gate_(gate) {}

    /// A query with the same parameter twice is refused before the route sees it.
    void add(admin_route one);
    /// Before the gate: it asks for no key.
    void add_open(std::string method, std::string path, const route_doc& doc, http_handler answer);

    [[nodiscard]] const router& routes() const noexcept { return routes_; }
    [[nodiscard]] admin_gate& gate() const noexcept { return gate_; }
    [[nodiscard]] const std::vector<described>& all() const noexcept { return all_; }

private:
    router& routes_;
    admin_gate& gate_;
    std::vector<described> all_;
};

}  // namespace posthorn
