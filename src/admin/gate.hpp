#pragma once

#include "admin/access/access.hpp"
#include "audit/audit.hpp"

namespace posthorn {

/// The answer to a caller who is not let in; it is kept too.
[[nodiscard]] http_response refused(audit& kept, const http_request& request,
                                    const admin_refusal& why);

/// Makes a change whose row is in the audit before it, and says what came of it afterwards.
[[nodiscard]] task<http_response> audited(audit& kept, std::string who, http_request request,
                                          http_handler change);

/// Stands before the routes of the admin API: lets in callers who may.
///
/// Lifetime: outlives the routes.
/// Threads:  any.
class admin_gate {
public:
    virtual ~admin_gate() = default;

    /// Any role may, if none is needed.
    /// `routes.add("POST", "/_rf/queue/{name}/take", gate.guarded(admin_role::worker, take));`
    [[nodiscard]] virtual http_handler guarded(std::optional<admin_role> needed,
                                               admin_handler handler) = 0;
    /// For a handler that finds by itself that its caller lacks a right, such as that to payloads.
    [[nodiscard]] virtual http_response refuse(const http_request& request, const admin_caller& who,
                                               std::string_view why) = 0;
    /// Whether the caller of an answer that goes on would still be let in. Keeps no record.
    [[nodiscard]] virtual bool lets_in(const http_request& request, admin_role needed) const = 0;
    [[nodiscard]] virtual std::uint64_t refusals() const noexcept { return 0; }
};

/// The gate of the admin listener: keys and roles, and every change and every refusal is kept. A
/// change of which the audit cannot be written is not made.
///
/// What workers do with queues is their everyday traffic; of that only refusals are kept.
///
/// Lifetime: as any gate; its parts outlive it.
class key_gate final : public admin_gate {
public:
    key_gate(const admin_access& access, audit& kept) : access_(access), audit_(kept) {}

    [[nodiscard]] http_handler guarded(std::optional<admin_role> needed,
                                       admin_handler handler) override;
    [[nodiscard]] http_response refuse(const http_request& request, const admin_caller& who,
                                       std::string_view why) override;
    [[nodiscard]] bool lets_in(const http_request& request, admin_role needed) const override {
        return access_.admit(request, needed).has_value();
    }
    [[nodiscard]] std::uint64_t refusals() const noexcept override { return audit_.refusals(); }

private:
    const admin_access& access_;
    audit& audit_;
};

/// For the owner of a database file, who may do everything with it anyway.
class open_gate final : public admin_gate {
public:
    [[nodiscard]] http_handler guarded(std::optional<admin_role> needed,
                                       admin_handler handler) override;
    [[nodiscard]] http_response refuse(const http_request& request, const admin_caller& who,
                                       std::string_view why) override;
    [[nodiscard]] bool lets_in(const http_request&, admin_role) const override { return true; }
};

}  // namespace posthorn
