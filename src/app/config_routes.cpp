#include "app/config_table.hpp"
#include "app/route_url.hpp"

namespace posthorn {
namespace {

constexpr std::string_view wanted =
    R"("http://HOST:PORT", "https://HOST:PORT", "unix:///PATH" or "inprocess:", or a table such as )"
    R"({ url = "https://stock:7400", timeout = "5s" })";

result<> read_table(route_setting& route, std::string_view key, const config_fields& fields,
                    std::string_view origin) {
    field_reader reader(key, fields);
    reader.take("url", route.url);
    reader.take("connections", route.connections);
    reader.take("timeout", route.timeout);
    reader.take("signature", route.signature);
    POSTHORN_TRY(reader.finish());
    if (route.url.empty())
        return wrong_value(origin, fmt::format("{} has no url; write {}", key, wanted));
    if (route.connections < 1 || route.connections > 64)
        return wrong_value(origin, fmt::format("{}.connections cannot be {}; write 1 to 64", key,
                                               route.connections));
    if (route.timeout < std::chrono::milliseconds{1})
        return wrong_value(origin,
                           fmt::format("{}.timeout cannot be 0; write one such as \"30s\"", key));
    if (route.signature != "v2")
        return wrong_value(origin,
                           fmt::format("{}.signature cannot be \"{}\"; write \"v2\", the only one "
                                       "there is so far",
                                       key, route.signature));
    return {};
}

}  // namespace

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
    if (const auto url = parse_route_url(route.url); !url)
        return wrong_value(origin, fmt::format("{}: {}", key, url.error().what()));
    if (name == "default")
        settings.default_route = std::move(route);
    else
        settings.routes.insert_or_assign(std::string(name), std::move(route));
    return {};
}

}  // namespace posthorn
