#include "transport/amqp/amqp_address.hpp"

#include "transport/broker/broker_message.hpp"

namespace posthorn {
namespace {

constexpr std::size_t name_max = 255;  // By the protocol.

result<> check_name(std::string_view what, std::string_view name) {
    if (name.size() <= name_max && name.find('\0') == name.npos) return {};
    return fail(error_code::invalid_configuration, "its {} is longer than {} bytes", what,
                name_max);
}

result<> check_route(const route_options& options) {
    for (const auto& [name, value] : options) POSTHORN_TRY(check_name(name, value));
    const auto key = options.find("key");
    return key == options.end() ? result<>{} : check_address(key->second);
}

result<> check_source(std::string_view url, const route_options& options) {
    POSTHORN_TRY(parse_broker_url(url, amqp_scheme));
    for (const auto& [name, value] : options) POSTHORN_TRY(check_name(name, value));
    return {};
}

}  // namespace

transport_kind amqp_words() {
    return {
        .schemes = {"amqp", "amqps"},
        .plain = {"amqp"},
        .written = {"amqp://USER@HOST:PORT/VHOST", "amqps://USER@HOST:PORT/VHOST"},
        .is_signed = false,
        .options = {"exchange", "key"},
        .has_password = true,
        .check_options = check_route,
        .keeps = "RabbitMQ: a classic queue may confirm before it syncs, a quorum queue does not",
        .probe_pause_max = std::chrono::seconds{2},
        .parse = [](std::string_view url) { return broker_route(url, amqp_scheme); }};
}

broker_kind amqp_broker_words() {
    return {.schemes = {"amqp", "amqps"},
            .options = {"queue"},
            .required = {"queue"},
            .check = check_source};
}

}  // namespace posthorn
