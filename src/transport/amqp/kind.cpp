#include "transport/amqp/kind.hpp"

#include <algorithm>

#include "transport/amqp/amqp_address.hpp"
#include "transport/amqp/amqp_consumer.hpp"
#include "transport/amqp/amqp_publisher.hpp"
#include "transport/broker/broker_transport.hpp"

namespace posthorn {
namespace {

amqp_place place_of(broker_url url, std::string_view service, std::string_view authority,
                    const tls_files& own) {
    return {.url = std::move(url),
            .name = fmt::format("posthorn {}", service),
            .authority = std::string(authority),
            .own = own};
}

bool is_key(std::string_view /*address*/) { return true; }  // All bytes may stand in one.

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(url, parse_broker_url(wanted.url, amqp_scheme));
    const auto exchange = wanted.options.find("exchange");
    const auto key = wanted.options.find("key");
    const bool has_exchange = exchange != wanted.options.end();
    // The default exchange leads to the queue that is called as the key is.
    const std::string_view usual = has_exchange ? "{endpoint}" : "{destination}";
    auto publisher = std::make_unique<amqp_publisher>(
        amqp_link::deps{
            .env = wanted.env,
            .at = place_of(std::move(url), wanted.service, wanted.tls.authority, wanted.tls.own),
            .password = wanted.password},
        has_exchange ? exchange->second : std::string());
    return std::make_unique<broker_transport>(
        std::move(publisher),
        broker_transport::options{
            .address = key == wanted.options.end() ? std::string(usual) : key->second,
            .address_bytes_max = 255,
            .is_address = &is_key});
}

result<std::unique_ptr<broker_consumer>> consume(consume_request wanted) {
    POSTHORN_LET(url, parse_broker_url(wanted.url, amqp_scheme));
    auto place = place_of(std::move(url), wanted.service, wanted.authority, wanted.own);
    place.body_bytes_max = std::max(place.body_bytes_max, wanted.bytes_max);
    return std::make_unique<amqp_consumer>(
        amqp_link::deps{
            .env = wanted.env, .at = std::move(place), .password = std::move(wanted.password)},
        amqp_consumer::options{.queue = wanted.options.at("queue"),
                               .messages_max = wanted.messages_max,
                               .bytes_max = wanted.bytes_max});
}

}  // namespace

transport_kind amqp_kind() {
    auto kind = amqp_words();
    kind.connect = connect;
    return kind;
}

broker_kind amqp_broker() {
    auto kind = amqp_broker_words();
    kind.consume = consume;
    return kind;
}

}  // namespace posthorn
