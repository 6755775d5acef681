#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/uuid.hpp>

/// How a program takes part in webhooks, beside `transaction::publish`.
namespace posthorn {

/// What is vouched for of a user who signed in, such as `{"tid", "acme"}`.
struct claim {
    std::string type;
    std::string value;
};

/// A subscriber that the program knows by itself: as a row of `webhook_subscriptions`, in no table.
struct webhook_subscriber {
    std::string url{};
    std::string secret{};            // `whsec_…` or `whsk_…`, or any text in the style `outbox`.
    std::string event_type = "*";    // `order.paid`, `order.*` or `*`.
    std::string tenant{};            // Whose events; those of all if empty.
    std::optional<uuid> id{};        // Follows from URL and tenant unless given.
    std::string style = "standard";  // `standard`, `outbox` or `both`.
    std::string form = "envelope";   // `envelope`, `raw` or `thin`.
    std::int32_t max_retries = 5;
    std::chrono::seconds timeout{30};
    std::string headers{};  // A JSON object of texts, or empty.
    std::string filter{};   // Such as `{"/data/country": ["DE"]}`, or empty.
};

/// The secret of a tenant, or of a subscription of all tenants by its id; empty where there is
/// none, and the stored secret counts. Called on a thread that it may block, and not again before
/// `webhooks.secret_cache` is over. While it throws, what it was asked for waits, uncharged.
using webhook_secret_function = std::function<std::optional<std::string>(std::string_view tenant)>;

}  // namespace posthorn
