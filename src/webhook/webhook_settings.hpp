#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "feature/settings.hpp"
#include "outbox/rules/retry_policy.hpp"
#include "security/secret_box.hpp"
#include "webhook/failing_endpoint.hpp"
#include "webhook/routes/portal_token.hpp"
#include "webhook/webhook_client.hpp"

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

[[nodiscard]] result<failing_rules> read_failing_rules(const feature_settings& said);
/// Whom alerts are sent to; empty if none are.
[[nodiscard]] std::string read_alerts(const feature_settings& said);

}  // namespace posthorn
