#include "webhook/webhook_request.hpp"

#include <span>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "message/validate.hpp"
#include "security/webhook_signature.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

std::string as_json(std::string_view text) { return json::serialize(json::string(text)); }

// As it was published, to the byte: a number that a parser would round stays what it is.
std::string data_of(const webhook_event& event, webhook_form form) {
    if (form == webhook_form::thin)
        return event.entity.empty() ? "{}" : R"({"id":)" + as_json(event.entity) + "}";
    if (is_json_type(event.content_type)) return event.payload;
    return is_utf8(event.payload) ? as_json(event.payload) : as_json(encode_base64(event.payload));
}

// Bytes that are not text would not be JSON.
bool is_in_base64(const webhook_event& event, webhook_form form) {
    return form == webhook_form::envelope && !is_json_type(event.content_type) &&
           !is_utf8(event.payload);
}

std::int64_t seconds_of(wall_time time) {
    return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// The one before the present one signs until its time is over.
std::span<const webhook_key> live_at(const webhook_target& to, wall_time now) {
    const bool both = to.of.previous_until && now < *to.of.previous_until;
    return std::span(to.live).first(both ? to.live.size() : 1);
}

std::string sign(const webhook_key& with, const webhook_head& head, std::string_view body) {
    if (const auto* const pair = std::get_if<ed25519_pair>(&with))
        return sign_webhook(head, body, {}, pair);
    return sign_webhook(head, body, std::span(&std::get<secret>(with), 1));
}

void add_standard(http_headers& headers, const webhook_event& event, const webhook_target& to,
                  std::string_view body, wall_time now) {
    const auto id = event.id.to_string();
    const webhook_head head{.id = id, .timestamp = seconds_of(now)};
    headers.add("webhook-id", id);
    headers.add("webhook-timestamp", std::to_string(head.timestamp));
    std::string signatures;
    for (const auto& each : live_at(to, now))
        signatures += (signatures.empty() ? "" : " ") + sign(each, head, body);
    headers.add("webhook-signature", signatures);
}

void add_outbox(http_headers& headers, const webhook_event& event, const webhook_target& to,
                std::string_view body, std::int32_t attempt, wall_time now) {
    headers.add("X-Outbox-Signature", sign_outbox(body, to.texts.front()));
    headers.add("X-Outbox-Event", event.type);
    headers.add("X-Outbox-Message-Id", event.id.to_string());
    headers.add("X-Outbox-Delivery-Id", delivery_id(event.id, to.of.id, attempt).to_string());
    headers.add("X-Outbox-Subscription-Id", to.of.id.to_string());
    headers.add("X-Outbox-Timestamp", std::to_string(seconds_of(now)));
    if (!event.correlation_id.empty()) headers.add("X-Outbox-Correlation-Id", event.correlation_id);
}

}  // namespace

result<webhook_key> parse_webhook_key(std::string_view text) {
    if (text.starts_with("whsk_")) {
        POSTHORN_LET(pair, ed25519_pair::parse(text));
        return webhook_key(std::move(pair));
    }
    POSTHORN_LET(shared, parse_webhook_secret(text));
    return webhook_key(std::move(shared));
}

std::string body_of(const webhook_event& event, webhook_form form) {
    if (form == webhook_form::raw) return event.payload;
    return R"({"type":)" + as_json(event.type) + R"(,"timestamp":")" + to_iso8601(event.at) +
           R"(","data":)" + data_of(event, form) +
           (is_in_base64(event, form) ? R"(,"dataEncoding":"base64"})" : "}");
}

guarded_request make_webhook_request(const webhook_event& event, const webhook_target& to,
                                     std::int32_t attempt, wall_time now) {
    guarded_request made{.url = to.of.url,
                         .custom = to.custom,
                         .body = body_of(event, to.of.form),
                         .limit = to.of.timeout};
    made.headers.add("Content-Type",
                     to.of.form == webhook_form::raw ? event.content_type : "application/json");
    made.headers.add("User-Agent", "Posthorn");
    if (to.of.style != webhook_style::outbox) add_standard(made.headers, event, to, made.body, now);
    if (to.of.style != webhook_style::standard)
        add_outbox(made.headers, event, to, made.body, attempt, now);
    return made;
}

}  // namespace posthorn
