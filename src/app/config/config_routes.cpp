#include <span>

#include "app/config/config_table.hpp"
#include "app/config/route_url.hpp"
#include "app/transports.hpp"

namespace posthorn {
namespace {

constexpr std::string_view wanted =
    R"("http://HOST:PORT", "https://HOST:PORT", "unix:///PATH", "pipe://NAME", "grpc://HOST:PORT", "amqp://USER@HOST:PORT/VHOST", "nats://HOST:PORT" or "inprocess:", or a table such as )"
    R"({ url = "https://stock:7400", timeout = "5s" })";

template <class T>
void take(field_reader& reader, std::string_view name, std::optional<T>& into) {
    if (reader.has(name)) reader.take(name, into.emplace());
    reader.knows(name);
}

result<> check_lane(const route_setting& route, std::string_view key, std::string_view origin) {
    const auto outside = [](const auto& value, auto min, auto max) {
        return value && !(*value >= min && *value <= max);
    };
    const auto refuse = [&](std::string_view name, std::string_view rule) {
        return wrong_value(origin, fmt::format("{}.{} is out of range; {}", key, name, rule));
    };
    if (outside(route.window, 1, 1000)) return refuse("window", "write 1 to 1000 batches");
    if (outside(route.batch, 1, 10'000)) return refuse("batch", "write 1 to 10000 messages");
    if (outside(route.rate, 0.0, 1e9))
        return refuse("rate", "write messages a second, or 0 for no limit");
    if (outside(route.burst, 0.0, 1e9))
        return refuse("burst", "write a number of messages, or 0 for as many as in a second");
    return {};
}

result<> read_scheme(std::string_view key, const config_value& value, std::string_view origin,
                     std::optional<signature_scheme>& into) {
    const auto* text = std::get_if<std::string>(&value);
    if (text) into = parse_scheme(*text);
    if (into) return {};
    constexpr std::string_view schemes = R"("v2", "rf-hmac" or "x-workflow")";
    // Beside the name of a peer a secret may be meant.
    return key.starts_with("signatures.") ? wrong_shape(origin, key, value, schemes)
                                          : wrong_value(origin, key, value, schemes);
}

/// Nothing here quotes it: it may be written out where its place belongs.
result<> read_password(std::string_view key, const config_item& item, route_setting& route) {
    const auto* const text = std::get_if<std::string>(&item.value);
    auto read = text ? read_secret_text(*text) : std::nullopt;
    if (!read || read->where == secret_setting::kind::written)
        return wrong_value(item.origin, fmt::format("{}.password has to lie elsewhere; write "
                                                    "\"env:NAME\" or \"file:PATH\"",
                                                    key));
    route.password = *std::move(read);
    return {};
}

/// What the kind of transport understands beside its URL.
void take_options(field_reader& reader, std::string_view key, route_setting& route) {
    const auto* const kind = transport_of(route.url);
    if (kind == nullptr) return;
    for (const auto name : kind->options)
        if (reader.has(name)) reader.take(name, route.options[std::string(name)]);
    if (kind->has_password)
        reader.take_with("password",
                         [&](const config_item& item) { return read_password(key, item, route); });
}

/// What the kinds of its addresses say of a route. What it says beside them is in the words of one
/// kind of broker, so that such addresses stand with none of another kind.
result<> check_kinds(const route_setting& route, std::span<const std::string_view> addresses,
                     std::string_view key, std::string_view origin) {
    const auto* const kind = transport_of(addresses.front());
    for (const auto each : addresses) {
        const auto* const other = transport_of(each);
        if (kind == nullptr || other == nullptr) continue;
        if (other != kind && (kind->has_password || other->has_password))
            return wrong_value(origin, fmt::format("{} names a broker beside what is none of its "
                                                   "cluster; write addresses of one cluster",
                                                   key));
        if (!other->left_out.empty())
            return wrong_value(origin, fmt::format("{}: {}", key, other->left_out));
    }
    if (kind == nullptr || kind->check_options == nullptr) return {};
    const auto fits = kind->check_options(route.options);
    if (fits) return {};
    return wrong_value(origin, fmt::format("{}: {}", key, fits.error().what()));
}

result<> read_table(route_setting& route, std::string_view key, const config_fields& fields,
                    std::string_view origin) {
    field_reader reader(key, fields);
    reader.take("url", route.url);
    reader.take("connections", route.connections);
    take(reader, "timeout", route.timeout);
    take(reader, "window", route.window);
    take(reader, "batch", route.batch);
    take(reader, "rate", route.rate);
    take(reader, "burst", route.burst);
    take_options(reader, key, route);
    reader.take_with("signature", [&](const config_item& item) {
        return read_scheme(fmt::format("{}.signature", key), item.value, item.origin,
                           route.signature);
    });
    POSTHORN_TRY(reader.finish());
    if (route.url.empty())
        return wrong_value(origin, fmt::format("{} has no url; write {}", key, wanted));
    if (route.connections < 1 || route.connections > 64)
        return wrong_value(origin, fmt::format("{}.connections cannot be {}; write 1 to 64", key,
                                               route.connections));
    POSTHORN_TRY(check_lane(route, key, origin));
    if (route.timeout && *route.timeout < std::chrono::milliseconds{1})
        return wrong_value(origin,
                           fmt::format("{}.timeout cannot be 0; write one such as \"30s\"", key));
    return {};
}

}  // namespace

result<> set_signature(config& settings, std::string_view name, const config_value& value,
                       std::string_view origin) {
    std::optional<signature_scheme> scheme;
    POSTHORN_TRY(read_scheme(fmt::format("signatures.{}", name), value, origin, scheme));
    settings.signatures.insert_or_assign(std::string(name),
                                         signature_setting{*scheme, std::string(origin)});
    return {};
}

result<> set_route(config& settings, std::string_view name, const config_value& value,
                   std::string_view origin) {
    const auto key = fmt::format("routes.{}", name);
    route_setting route{.origin = std::string(origin)};
    if (const auto* text = std::get_if<std::string>(&value)) {
        route.url = *text;
    } else if (const auto* fields = std::get_if<config_fields>(&value)) {
        POSTHORN_TRY(read_table(route, key, *fields, origin));
    } else {
        return wrong_value(origin, key, value, wanted);
    }
    const bool is_default = name == "default";
    // Any name in the place of the destinations' own, which are not known yet.
    constexpr std::size_t addresses_max = 8;
    const auto addresses = addresses_in(route.url);
    if (addresses.size() > addresses_max)
        return wrong_value(origin, fmt::format("{} names {} addresses; write up to {}", key,
                                               addresses.size(), addresses_max));
    for (const auto each : addresses) {
        const auto url = parse_route_url(is_default ? for_service(each, "any") : std::string(each));
        if (!url) return wrong_value(origin, fmt::format("{}: {}", key, url.error().what()));
    }
    POSTHORN_TRY(check_kinds(route, addresses, key, origin));
    if (is_default && route.signature && *route.signature != signature_scheme::v2)
        return wrong_value(origin,
                           fmt::format("routes.default.signature cannot be \"{}\", which is "
                                       "chosen for one peer at a time; write it beside the "
                                       "peer's own route, or under [signatures]",
                                       to_string(*route.signature)));
    if (is_default)
        settings.default_route = std::move(route);
    else
        settings.routes.insert_or_assign(std::string(name), std::move(route));
    return {};
}

}  // namespace posthorn
