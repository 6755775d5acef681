#pragma once

#include <memory>
#include <string>

#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "transport/dns/resolver.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "transport/own_addresses.hpp"

namespace posthorn {

/// The guarded client of all destinations that are URLs, made when the first of them is sent to:
/// reading all authorities takes a while.
///
/// Lifetime: outlives what sends through it; `run()` has returned before it is destroyed.
/// Threads:  the network executor.
/// Cancel:   idle connections are closed, and nothing is sent any more.
class url_client final : public node_service {
public:
    struct options {
        guarded_client_options client{};
        resolver_options names{};
        std::string authorities{};  // A file; the system's if empty.
    };

    url_client(const environment& env, options how)
        : env_(env),
          options_(std::move(how)),
          names_(env.timer, options_.names),
          tasks_(env.network) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "url client"; }
    task<> run() override;

    /// What URLs may lead to, this machine's own addresses known. Fails with what `make_tls_for_strangers`
    /// and `own_addresses` fail with; asked again then, it tries again.
    [[nodiscard]] result<const guard_rules*> rules();
    /// After `rules` has been successful.
    task<guarded_answer> send(guarded_request request);

private:
    /// Now and then: this machine may get addresses that it did not have.
    void look_at_own_addresses();

    const environment& env_;
    options options_;
    resolver names_;
    task_group tasks_;
    std::unique_ptr<guarded_client> client_;
    own_addresses_watch own_addresses_;
    bool stopped_ = false;
};

}  // namespace posthorn
