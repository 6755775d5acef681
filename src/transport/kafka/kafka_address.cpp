#include "transport/kafka/kafka_address.hpp"

#include <algorithm>

#include "transport/broker/broker_message.hpp"

namespace posthorn {
namespace {

constexpr broker_scheme scheme{
    .plain = "kafka", .tls = "kafkas", .plain_port = 9092, .tls_port = 9093};
constexpr std::size_t topic_max = 249;  // By Kafka.

std::unexpected<error> wrong(std::string_view what) {
    return fail(error_code::invalid_configuration,
                "{}; write kafka://USER@HOST:9092,HOST:9092/TOPIC", what);
}

result<> check_route(const route_options& options) {
    const auto how = options.find("mechanism");
    if (how == options.end() || how->second == "PLAIN" || how->second == "SCRAM-SHA-256" ||
        how->second == "SCRAM-SHA-512")
        return {};
    return fail(error_code::invalid_configuration,
                "its mechanism has to be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512");
}

result<route_url> read_route(std::string_view text) {
    POSTHORN_LET(url, parse_kafka_url(text));
    const auto first = url.brokers.substr(0, url.brokers.find(','));
    return route_url{.scheme = url.tls ? "kafkas" : "kafka",
                     .host = first.substr(0, first.rfind(':')),
                     .path = std::move(url.topic)};
}

}  // namespace

bool is_kafka_topic(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '.' || each == '_' || each == '-';
    };
    return !text.empty() && text.size() <= topic_max && text != "." && text != ".." &&
           std::ranges::all_of(text, fits);
}

// Each broker by itself is read as the URL of one.
result<kafka_url> parse_kafka_url(std::string_view text) {
    const auto begin = text.find("://");
    if (begin == text.npos) return wrong("the URL of a broker begins with its scheme");
    const auto head = text.substr(0, begin + 3);
    auto rest = text.substr(begin + 3);
    const auto at = rest.rfind('@');
    const auto slash = rest.find('/', at == rest.npos ? 0 : at);
    if (slash == rest.npos) return wrong("the URL names no topic");
    kafka_url made{.topic = std::string(rest.substr(slash + 1))};
    rest = rest.substr(0, slash);
    bool is_first = true;
    while (!rest.empty() || is_first) {
        const auto one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        POSTHORN_LET(read, parse_broker_url(fmt::format("{}{}", head, one), scheme));
        if (is_first) {
            made.tls = read.tls;
            made.user = read.user;
        } else if (!read.user.empty()) {
            return wrong("the user stands before the first broker alone");
        }
        const bool v6 = read.host.find(':') != read.host.npos;
        made.brokers += fmt::format("{}{}{}{}:{}", is_first ? "" : ",", v6 ? "[" : "", read.host,
                                    v6 ? "]" : "", read.port);
        is_first = false;
    }
    POSTHORN_TRY(check_address(made.topic));
    message shortest;
    shortest.destination = shortest.endpoint = shortest.tenant = shortest.order_key = "a";
    if (!is_kafka_topic(fill_address(made.topic, shortest)))
        return wrong("the topic of the URL cannot be one");
    return made;
}

transport_kind kafka_words() {
    return {.schemes = {"kafka", "kafkas"},
            .plain = {"kafka"},
            .written = {"kafka://USER@HOST:PORT,HOST:PORT/TOPIC", "kafkas://HOST:PORT/TOPIC"},
            .is_signed = false,
            .options = {"mechanism"},
            .has_password = true,
            .check_options = check_route,
            .keeps = "Kafka: confirms when its replicas have it, which sync later",
            .probe_pause_max = std::chrono::seconds{2},
            .parse = read_route};
}

}  // namespace posthorn
