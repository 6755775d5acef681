#include "transport/nats/nats_address.hpp"

#include <algorithm>

#include "transport/broker/broker_message.hpp"
#include "transport/nats/nats_rules.hpp"

namespace posthorn {
namespace {

/// Of a stream or a consumer, which stand in subjects of the server's own.
bool is_name(std::string_view text) {
    const auto fits = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') || each == '-' || each == '_';
    };
    return !text.empty() && text.size() <= 255 && std::ranges::all_of(text, fits);
}

result<> check_route(const route_options& options) {
    const auto subject = options.find("subject");
    if (subject == options.end()) return {};
    POSTHORN_TRY(check_address(subject->second));
    // Whatever the names stand for is no shorter than a letter.
    message shortest;
    shortest.destination = shortest.endpoint = shortest.tenant = shortest.order_key = "a";
    if (is_subject(fill_address(subject->second, shortest))) return {};
    return fail(error_code::invalid_configuration,
                "its subject cannot be published to; write one such as audit.{{endpoint}}");
}

result<> check_source(std::string_view url, const route_options& options) {
    POSTHORN_TRY(parse_broker_url(url, nats_scheme));
    for (const std::string_view name : {"stream", "durable"}) {
        const auto found = options.find(name);
        if (found != options.end() && !is_name(found->second))
            return fail(error_code::invalid_configuration,
                        "its {} cannot be read; write letters, digits, '-' and '_'", name);
    }
    return {};
}

}  // namespace

transport_kind nats_words() {
    return {.schemes = {"nats", "natss"},
            .plain = {"nats"},
            .written = {"nats://USER@HOST:PORT", "natss://USER@HOST:PORT"},
            .is_signed = false,
            .options = {"subject"},
            .has_password = true,
            .check_options = check_route,
            .keeps =
                "NATS: before 2.10, and without sync_interval: always, it confirms before it "
                "syncs",
            .probe_pause_max = std::chrono::seconds{2},
            .parse = [](std::string_view url) { return broker_route(url, nats_scheme); }};
}

broker_kind nats_broker_words() {
    return {.schemes = {"nats", "natss"},
            .options = {"stream", "durable", "subject"},
            .required = {"stream"},
            .has_offsets = true,
            .check = check_source};
}

}  // namespace posthorn
