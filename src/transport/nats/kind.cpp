#include "transport/nats/kind.hpp"

#include <algorithm>

#include "transport/broker/broker_transport.hpp"
#include "transport/nats/nats_address.hpp"
#include "transport/nats/nats_consumer.hpp"
#include "transport/nats/nats_publisher.hpp"
#include "transport/nats/nats_rules.hpp"

namespace posthorn {
namespace {

nats_place place_of(broker_url url, std::string_view service, std::string_view authority,
                    const tls_files& own) {
    return {.url = std::move(url),
            .name = fmt::format("posthorn {}", service),
            .authority = std::string(authority),
            .own = own};
}

/// The service's own name, as far as a consumer can be called so.
std::string durable_of(std::string name) {
    std::ranges::replace_if(
        name,
        [](char each) {
            return !((each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                     (each >= '0' && each <= '9') || each == '-' || each == '_');
        },
        '_');
    return name;
}

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(url, parse_broker_url(wanted.url, nats_scheme));
    const auto subject = wanted.options.find("subject");
    return std::make_unique<broker_transport>(
        std::make_unique<nats_publisher>(nats_publisher::deps{
            .env = wanted.env,
            .at = place_of(std::move(url), wanted.service, wanted.tls.authority, wanted.tls.own),
            .password = wanted.password}),
        broker_transport::options{
            .address = subject == wanted.options.end() ? "{endpoint}" : subject->second,
            .address_bytes_max = 4'000,
            .is_address = &is_subject});
}

result<std::unique_ptr<broker_consumer>> consume(consume_request wanted) {
    POSTHORN_LET(url, parse_broker_url(wanted.url, nats_scheme));
    const auto said = [&](std::string_view name) {
        const auto found = wanted.options.find(name);
        return found == wanted.options.end() ? std::string() : found->second;
    };
    auto durable = said("durable");
    if (durable.empty()) durable = durable_of(wanted.service);
    return std::make_unique<nats_consumer>(
        nats_consumer::deps{
            .env = wanted.env,
            .at = place_of(std::move(url), wanted.service, wanted.authority, wanted.own),
            .password = std::move(wanted.password)},
        nats_consumer::options{.stream = said("stream"),
                               .durable = std::move(durable),
                               .subject = said("subject"),
                               .messages_max = wanted.messages_max,
                               .bytes_max = wanted.bytes_max});
}

}  // namespace

transport_kind nats_kind() {
    auto kind = nats_words();
    kind.connect = connect;
    return kind;
}

broker_kind nats_broker() {
    auto kind = nats_broker_words();
    kind.consume = consume;
    return kind;
}

}  // namespace posthorn
