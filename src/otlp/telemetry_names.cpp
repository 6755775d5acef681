#include "otlp/telemetry_names.hpp"

#include <utility>

#include <posthorn/version.hpp>

#include "feature/outboxnet_names.hpp"

namespace posthorn {

std::optional<telemetry_profile> parse_profile(std::string_view text) noexcept {
    if (text == "messaging") return telemetry_profile::messaging;
    if (text == "outboxnet") return telemetry_profile::outboxnet;
    return std::nullopt;
}

std::string_view scope_name(telemetry_profile by) noexcept {
    return by == telemetry_profile::outboxnet ? outboxnet_scope : "posthorn";
}

std::string_view scope_version(telemetry_profile by) noexcept {
    return by == telemetry_profile::outboxnet ? outboxnet_version : version;
}

std::string_view name_of(span_kind kind) noexcept {
    switch (kind) {
        case span_kind::publish: return "outbox.publish";
        case span_kind::process_batch: return "outbox.process_batch";
        case span_kind::deliver: return "outbox.deliver";
        case span_kind::fan_out: return "webhook.fan_out";
        case span_kind::deliver_webhook: return "outbox.deliver_webhook";
        case span_kind::handle: return "inbox.handle";
        case span_kind::workflow_step: return "workflow.step";
    }
    std::unreachable();
}

namespace {

std::string_view outboxnet_name(span_key key) noexcept {
    switch (key) {
        case span_key::message_id: return "outbox.message_id";
        case span_key::endpoint: return "outbox.event_type";
        case span_key::subscription: return "outbox.subscription_id";
        case span_key::webhook_url: return "outbox.webhook_url";
        case span_key::http_status: return "http.status_code";
        case span_key::delivered: return "outbox.delivery.success";
        case span_key::batch_size: return "outbox.batch_size";
        default: return {};
    }
}

std::string_view messaging_name(span_key key) noexcept {
    switch (key) {
        case span_key::message_id: return "messaging.message.id";
        case span_key::correlation_id: return "messaging.message.conversation_id";
        case span_key::endpoint: return "posthorn.endpoint";
        case span_key::destination: return "messaging.destination.name";
        case span_key::source: return "posthorn.source";
        case span_key::payload_size: return "messaging.message.body.size";
        case span_key::attempt: return "posthorn.attempt";
        case span_key::batch_size: return "messaging.batch.message_count";
        case span_key::duplicate: return "posthorn.duplicate";
        case span_key::subscriptions: return "posthorn.webhook.subscriptions";
        case span_key::subscription: return "posthorn.webhook.subscription_id";
        case span_key::webhook_url: return "url.full";
        case span_key::http_status: return "http.response.status_code";
        case span_key::delivered: return {};  // The span's status says so.
        case span_key::error_type: return "error.type";
        case span_key::workflow: return "posthorn.workflow.name";
        case span_key::workflow_id: return "posthorn.workflow.id";
        case span_key::run: return "posthorn.workflow.run";
        case span_key::step: return "posthorn.workflow.step";
        case span_key::cause: return "posthorn.workflow.cause";
    }
    std::unreachable();
}

}  // namespace

std::string_view name_of(span_key key, telemetry_profile by) noexcept {
    if (by == telemetry_profile::outboxnet)
        if (const auto name = outboxnet_name(key); !name.empty()) return name;
    return messaging_name(key);
}

std::uint32_t protocol_kind(span_kind kind) noexcept {
    constexpr std::uint32_t internal = 1;
    constexpr std::uint32_t client = 3;
    constexpr std::uint32_t producer = 4;
    constexpr std::uint32_t consumer = 5;
    switch (kind) {
        case span_kind::publish: return producer;
        case span_kind::deliver:
        case span_kind::deliver_webhook: return client;
        case span_kind::handle: return consumer;
        case span_kind::process_batch:
        case span_kind::fan_out:
        case span_kind::workflow_step: return internal;
    }
    std::unreachable();
}

std::string_view operation_of(span_kind kind) noexcept {
    switch (kind) {
        case span_kind::publish: return "create";
        case span_kind::deliver:
        case span_kind::deliver_webhook: return "send";
        case span_kind::handle: return "process";
        default: return {};
    }
}

}  // namespace posthorn
