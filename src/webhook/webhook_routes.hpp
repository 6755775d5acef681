#pragma once

#include <vector>

#include "feature/admin_route.hpp"
#include "security/secret_box.hpp"
#include "store/store.hpp"
#include "webhook/secrets/tenant_secrets.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_client.hpp"

namespace posthorn {

/// What the routes of subscriptions work on.
///
/// Lifetime: outlives the routes.
struct webhook_desk {
    store& where;
    const environment& env;
    subscription_index& subscriptions;
    const secret_box* box;   // Null: secrets are stored in the clear.
    webhook_sender* client;  // Null where no node runs.
    tenant_secrets& secrets;
    std::string source;  // Of messages that are made here.
    bool plain_http = false;
    bool strict = false;  // Whether types are those of the catalogue alone.
    std::chrono::milliseconds life = std::chrono::days{4};       // Of a delivery.
    std::int32_t retries_max = 50;                               // The same.
    std::chrono::milliseconds overlap = std::chrono::hours{24};  // Of a secret that was replaced.
};

/// An event that never was.
struct webhook_sample {
    std::string type = "webhook.test";
    std::string payload = R"({"message":"This is a test."})";
};

/// Who reads what came of a test: how the guard decided is for operators.
enum class test_reader : std::uint8_t {
    staff,
    subscriber
};  // NOLINT(readability-identifier-naming)

/// What a test tells of, if a request says it: an example of the catalogue.
task<result<webhook_sample>> read_test_request(const webhook_desk& with, std::string body);

/// Sends a test, and answers with what was sent and what came back.
task<http_response> send_test(const webhook_desk& with, subscription_set::target to,
                              webhook_sample sample, test_reader reader);

/// Looks and changes, for people and programs.
[[nodiscard]] std::vector<admin_route> webhook_routes(const webhook_desk& with);

}  // namespace posthorn
