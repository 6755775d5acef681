#include "app/config/config_table.hpp"
#include "app/features.hpp"
#include "base/text/http_url.hpp"

namespace posthorn {
namespace {

constexpr std::string_view wanted =
    R"("sql:STATEMENTS", "http://HOST:PORT/PATH", "https://HOST:PORT/PATH" or "queue", or a table )"
    R"(such as { run = "sql:…", limit = "5s" })";

result<> read_run(handler_setting& handler, std::string_view key, const std::string& text,
                  std::string_view origin) {
    using enum handler_setting::kind;
    constexpr std::string_view sql_prefix = "sql:";
    for (const auto* const each : all_features()) {
        if (text.empty() || text != each->handler_word()) continue;
        handler.what = feature;
        handler.text = text;
        return {};
    }
    if (text.starts_with(sql_prefix) && text.size() > sql_prefix.size()) {
        handler.what = sql;
        handler.text = text.substr(sql_prefix.size());
        return {};
    }
    if (!parse_http_url(text)) {
        // What may hold a password or a token is not quoted.
        if (text.find_first_of("?@") == std::string::npos)
            return wrong_value(origin, key, text, wanted);
        return wrong_value(origin,
                           fmt::format("{} is not a URL that can be called; write {}, without "
                                       "a user's name",
                                       key, wanted));
    }
    handler.what = http;
    handler.text = text;
    return {};
}

result<handler_setting> read_handler(const std::string& key, const config_value& value,
                                     std::string_view origin) {
    handler_setting handler{.origin = std::string(origin)};
    if (const auto* text = std::get_if<std::string>(&value)) {
        POSTHORN_TRY(read_run(handler, key, *text, origin));
    } else if (const auto* fields = std::get_if<config_fields>(&value)) {
        std::string run;
        field_reader reader(key, *fields);
        reader.take("run", run);
        reader.take("limit", handler.limit);
        reader.take("lease", handler.lease);
        POSTHORN_TRY(reader.finish());
        POSTHORN_TRY(read_run(handler, key, run, origin));
        if (handler.limit.count() == 0 || handler.lease.count() == 0)
            return wrong_value(origin, fmt::format("{} can have no time of 0; write one such as "
                                                   "limit = \"5s\" or lease = \"60s\"",
                                                   key));
    } else {
        return wrong_value(origin, key, value, wanted);
    }
    return handler;
}

}  // namespace

result<> set_handler(config& settings, std::string_view name, const config_value& value,
                     std::string_view origin) {
    POSTHORN_LET(read, read_handler(fmt::format("handlers.{}", name), value, origin));
    settings.handlers.insert_or_assign(std::string(name), std::move(read));
    return {};
}

result<> set_response(config& settings, std::string_view name, const config_value& value,
                      std::string_view origin) {
    POSTHORN_LET(read, read_handler(fmt::format("responses.{}", name), value, origin));
    settings.responses.insert_or_assign(std::string(name), std::move(read));
    return {};
}

}  // namespace posthorn
