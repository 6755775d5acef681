#pragma once

#include <functional>

#include "admin/access.hpp"
#include "audit/audit.hpp"

namespace posthorn {

/// Answers a request of somebody who was let in.
using admin_handler = std::function<task<http_response>(http_request, admin_caller)>;

/// Stands before the routes of the admin listener: lets in who may, and sees to it that every
/// change and every refusal is kept. A change of which the audit cannot be written is not made.
///
/// What workers do with queues is their everyday traffic; of that only refusals are kept.
///
/// Lifetime: outlives the routes; so do its parts.
/// Threads:  any.
class admin_gate {
public:
    admin_gate(const admin_access& access, audit& kept) : access_(access), audit_(kept) {}

    /// `routes.add("POST", "/_rf/queues/{name}/take", gate.guarded(admin_role::worker, take));`
    [[nodiscard]] http_handler guarded(admin_role needed, admin_handler handler);
    /// For a handler that finds by itself that its caller lacks a right, such as that to payloads.
    [[nodiscard]] http_response refuse(const http_request& request, const admin_caller& who,
                                       std::string_view why);
    [[nodiscard]] std::uint64_t refusals() const noexcept { return audit_.refusals(); }

private:
    const admin_access& access_;
    audit& audit_;
};

}  // namespace posthorn
