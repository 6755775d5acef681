#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "feature/feature.hpp"
#include "outbox/rules/retry_policy.hpp"
#include "security/secret_box.hpp"
#include "webhook/failing/failing_endpoint.hpp"
#include "webhook/routes/portal_token.hpp"
#include "webhook/secrets/tenant_secrets.hpp"
#include "webhook/subscription.hpp"
#include "webhook/webhook_client.hpp"
#include "webhook/webhook_program.hpp"

namespace posthorn {

/// The keys of `[webhooks]`.
[[nodiscard]] std::span<const feature_key> webhook_keys() noexcept;

/// What they say. Fails with `invalid_configuration`, naming the key; `read_webhook_key` with
/// `secret_unavailable` where the file or variable is not there.
[[nodiscard]] result<webhook_client::options> read_client_options(const feature_settings& said);
[[nodiscard]] result<std::shared_ptr<const retry_policy>> read_retries(
    const feature_settings& said);
/// What secrets are sealed with; none if no key is configured.
[[nodiscard]] result<std::optional<secret_box>> read_webhook_key(const feature_settings& said);
/// What the portal's tokens are signed with; none if it is off.
[[nodiscard]] result<std::optional<portal_tokens>> read_portal(const feature_settings& said);
/// Where pages may come from that show the portal in a frame.
[[nodiscard]] result<std::vector<std::string>> read_embedders(const feature_settings& said);

/// How much of what is published is under way at once.
struct webhook_pace {
    std::int64_t batch = 24;             // Events that are looked at together.
    std::int64_t batches = 2;            // At a time.
    std::int64_t endpoint_requests = 4;  // To one endpoint, at first.

    /// Deliveries that may be under way of what one endpoint is told of. From 200 it is warned of.
    [[nodiscard]] std::int64_t fan_out() const noexcept {
        return batch * batches * endpoint_requests;
    }
    [[nodiscard]] bool is_wide() const noexcept { return fan_out() >= 200; }
};
[[nodiscard]] result<webhook_pace> read_pace(const feature_settings& said);
[[nodiscard]] claim_types read_claim_types(const feature_settings& said);

/// In whose words `/metrics` tells of webhooks: in Posthorn's alone, or in OutboxNet's too.
enum class metric_names : std::uint8_t { posthorn, outboxnet };
[[nodiscard]] result<metric_names> read_metric_names(const feature_settings& said);

/// How often a delivery is tried again, whatever its subscription says.
[[nodiscard]] result<std::int32_t> read_retries_max(const feature_settings& said);
[[nodiscard]] result<tenant_secrets::options> read_tenant_secrets(const feature_settings& said);
[[nodiscard]] result<failing_rules> read_failing_rules(const feature_settings& said);
/// The service that alerts are sent to; empty if none is.
[[nodiscard]] result<std::string> read_alerts(const feature_settings& said,
                                              const message_limits& limits);
[[nodiscard]] result<std::vector<subscription>> read_subscribers(const feature_settings& said);

/// Every key that cannot be what it is.
[[nodiscard]] std::vector<feature_problem> check_webhook_settings(const feature_settings& said,
                                                                  const message_limits& limits);

}  // namespace posthorn
