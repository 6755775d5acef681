#pragma once

#include <string_view>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "outbox/dispatch/dispatcher.hpp"
#include "outbox/rules/cron.hpp"

namespace posthorn {

/// Asks a dispatcher for a round whenever a schedule says so. A round that is still under way when
/// the next one should begin is waited for, and that one left out.
///
/// Lifetime: `run()` once; what it is given outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   `run()` returns at once; a round under way goes on.
class round_timer final : public node_service {
public:
    round_timer(const environment& env, dispatcher& of, cron when)
        : env_(env), of_(of), when_(std::move(when)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "timer"; }
    task<> run() override;

private:
    const environment& env_;
    dispatcher& of_;
    cron when_;
};

}  // namespace posthorn
