#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/message.hpp>
#include <posthorn/webhooks.hpp>

#include "base/result.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {

class subscription_index;
class tenant_secrets;

/// Which claims tenant and user are taken from; from none where empty.
struct claim_types {
    std::string tenant{};
    std::string user{};
};

/// The tenant and the user that claims name, unless the options have them. Pure.
[[nodiscard]] publish_options take_claims(publish_options options, std::span<const claim> claims,
                                          const claim_types& types);

/// As a row would be. Fails with `invalid_argument`, naming what is wrong. Pure.
[[nodiscard]] result<subscription> read_subscriber(const webhook_subscriber& given,
                                                   bool plain_http);

/// What a program says of webhooks in code, through its node.
///
/// Lifetime: as the node's.
/// Threads:  any.
class webhook_program {
public:
    struct options {
        claim_types claims{};
        bool plain_http = false;
    };

    webhook_program(subscription_index& among, tenant_secrets& secrets, options how)
        : among_(among), secrets_(secrets), options_(std::move(how)) {}

    [[nodiscard]] const claim_types& claims() const noexcept { return options_.claims; }
    /// In place of those that were given before.
    [[nodiscard]] result<> give(const std::vector<webhook_subscriber>& all);
    /// Before the node starts.
    void find_secrets_with(webhook_secret_function find);

private:
    subscription_index& among_;
    tenant_secrets& secrets_;
    options options_;
};

}  // namespace posthorn
