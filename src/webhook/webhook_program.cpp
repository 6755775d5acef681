#include "webhook/webhook_program.hpp"

#include <algorithm>
#include <utility>

#include "webhook/secrets/tenant_secrets.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

std::string value_of(std::span<const claim> claims, const std::string& type) {
    if (type.empty()) return {};
    const auto found = std::ranges::find(claims, type, &claim::type);
    return found == claims.end() ? std::string() : found->value;
}

template <class T>
result<> take(T& into, std::optional<T> read, std::string_view name, std::string_view value) {
    if (!read) return fail(error_code::invalid_argument, "its {} cannot be '{}'", name, value);
    into = *read;
    return {};
}

}  // namespace

publish_options take_claims(publish_options options, std::span<const claim> claims,
                            const claim_types& types) {
    if (options.tenant.empty()) options.tenant = value_of(claims, types.tenant);
    if (options.user.empty()) options.user = value_of(claims, types.user);
    return options;
}

result<subscription> read_subscriber(const webhook_subscriber& given, bool plain_http) {
    subscription one{.id = {},
                     .tenant = given.tenant,
                     .event_type = given.event_type,
                     .url = given.url,
                     .secret = given.secret,
                     .max_retries = given.max_retries,
                     .timeout = given.timeout,
                     .headers = given.headers,
                     .filter = given.filter,
                     .is_given = true};
    POSTHORN_TRY(take(one.style, parse_webhook_style(given.style), "style", given.style));
    POSTHORN_TRY(take(one.form, parse_webhook_form(given.form), "form", given.form));
    POSTHORN_TRY(check(one, plain_http));
    webhook_target signs{.of = one};
    POSTHORN_TRY(add_key(signs, one.secret));
    one.id = given.id.value_or(configured_id(one.url, one.tenant));
    return one;
}

result<> webhook_program::give(const std::vector<webhook_subscriber>& all) {
    std::vector<subscription> known;
    for (const auto& each : all) {
        const auto number = known.size() + 1;
        auto one = read_subscriber(each, options_.plain_http);
        if (!one)
            return fail(error_code::invalid_argument, "subscriber {}: {}", number,
                        one.error().what());
        if (one->id.is_nil() || std::ranges::find(known, one->id, &subscription::id) != known.end())
            return fail(error_code::invalid_argument,
                        "subscriber {}: another one has its id, which follows from URL and tenant "
                        "unless it is given",
                        number);
        known.push_back(*std::move(one));
    }
    among_.give(std::move(known));
    return {};
}

void webhook_program::find_secrets_with(webhook_secret_function find) {
    secrets_.find_with(std::move(find));
}

}  // namespace posthorn
