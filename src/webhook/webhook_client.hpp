#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/bell.hpp"
#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "transport/dns/resolver.hpp"
#include "transport/http/guarded/guarded_client.hpp"
#include "transport/own_addresses.hpp"
#include "webhook/fair_slots.hpp"

namespace posthorn {

/// Brings one request to a subscriber's endpoint. A feature that comes before webhooks may show
/// another than the client for strangers: a simulator has endpoints of its own.
///
/// Threads: the network executor.
class webhook_sender {
public:
    virtual ~webhook_sender() = default;
    virtual task<guarded_answer> send(guarded_request request, fair_slots::asker who) = 0;
};

/// The client for strangers, made when it is first needed: most nodes have no subscriber, and
/// reading all authorities takes a while.
///
/// Lifetime: outlives what sends through it; `run()` has returned before it is destroyed.
/// Threads:  the network executor.
class webhook_client final : public node_service, public webhook_sender {
public:
    struct options {
        guarded_client_options client{};
        resolver_options names{};
        std::string authorities{};  // A file; the system's if empty.
    };

    webhook_client(const environment& env, options how)
        : env_(env),
          options_(std::move(how)),
          names_(env.timer, options_.names),
          slots_(options_.client.connections_max),
          tasks_(env.network) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "webhook client"; }
    task<> run() override;

    task<guarded_answer> send(guarded_request request, fair_slots::asker who) override;

private:
    result<> make();
    /// Now and then: this machine may get addresses that it did not have.
    void look_at_own_addresses();

    const environment& env_;
    options options_;
    resolver names_;
    fair_slots slots_;
    task_group tasks_;
    std::unique_ptr<guarded_client> client_;
    own_addresses_watch own_addresses_;
    bool stopped_ = false;
};

}  // namespace posthorn
