#include "transport/kafka/kind.hpp"

#include "transport/broker/broker_transport.hpp"
#include "transport/kafka/kafka_publisher.hpp"

namespace posthorn {
namespace {

result<std::unique_ptr<transport>> connect(const transport_request& wanted) {
    POSTHORN_LET(url, parse_kafka_url(wanted.url));
    const auto how = wanted.options.find("mechanism");
    auto topic = url.topic;
    return std::make_unique<broker_transport>(
        std::make_unique<kafka_publisher>(
            kafka_publisher::deps{.env = wanted.env,
                                  .at = std::move(url),
                                  .name = fmt::format("posthorn {}", wanted.service),
                                  .mechanism = how == wanted.options.end() ? "PLAIN" : how->second,
                                  .authority = wanted.tls.authority,
                                  .own = wanted.tls.own,
                                  .password = wanted.password,
                                  .patience = wanted.timeout}),
        broker_transport::options{
            .address = std::move(topic), .address_bytes_max = 249, .is_address = &is_kafka_topic});
}

}  // namespace

transport_kind kafka_kind() {
    auto kind = kafka_words();
    kind.connect = connect;
    return kind;
}

}  // namespace posthorn
