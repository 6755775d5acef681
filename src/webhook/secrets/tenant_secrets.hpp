#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <posthorn/webhooks.hpp>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "base/time/clock.hpp"
#include "security/secret.hpp"
#include "webhook/subscription_index.hpp"

namespace posthorn {

/// Secrets of tenants that lie outside of the database: in variables or files that a pattern names,
/// such as `env:OUTBOX_SECRETS_{tenant}`, or where the program's own function finds them. A
/// subscription of all tenants has its id for a name.
///
/// Where there is one it takes the place of the stored secret; where there is none, that counts. A
/// tenant that is not of letters, digits, `-`, `_` and `.` has none by a pattern: it may be a path.
///
/// Lifetime: what it is given outlives it.
/// Threads:  the network executor; the program's function is called on the workers.
class tenant_secrets {
public:
    struct options {
        std::string pattern{};                                     // Empty: there are none.
        std::chrono::milliseconds kept = std::chrono::minutes{5};  // Zero: read each time.
    };

    tenant_secrets(const clock& now, executor& workers, options how)
        : now_(now), workers_(workers), options_(std::move(how)) {}

    /// In place of the pattern. Before the first `apply`.
    void find_with(webhook_secret_function find) { find_ = std::move(find); }
    /// The same, to be signed with the secret that counts.
    task<subscription_set::target> apply(subscription_set::target to);

private:
    struct entry {
        steady_time until;
        std::optional<secret> text;
    };

    using found = std::optional<secret>;

    task<result<found>> find(std::string name);
    task<result<found>> ask(std::string name) const;
    [[nodiscard]] found read(std::string_view name) const;

    const clock& now_;
    executor& workers_;
    options options_;
    webhook_secret_function find_;
    std::map<std::string, entry, std::less<>> known_;
};

}  // namespace posthorn
