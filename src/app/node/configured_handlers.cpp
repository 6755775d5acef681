#include "app/node/configured_handlers.hpp"

#include <utility>

#include "inbox/configured/sql_handler.hpp"

namespace posthorn {
namespace {

/// SQL of the configuration, and where it stands there.
struct written_sql {
    std::string_view key;
    std::string_view origin;
    std::string_view text;
};

result<std::vector<sql_statement>> checked_script(const written_sql& written, store& database,
                                                  logger& log) {
    const auto wrong = [&](const error& why) {
        return fail(error_code::invalid_configuration, "{}: {}: {}", written.origin, written.key,
                    why.what());
    };
    auto script = parse_sql_script(written.text);
    if (!script) return wrong(script.error());
    const auto checked = check_sql_script(database, *script);
    if (!checked) return wrong(checked.error());
    if (!checked->text.empty())
        log.warn("The SQL of {Key} cannot work yet: {Error}",
                 {{"Key", written.key}, {"Error", checked->text}});
    return script;
}

async_handler make_web_handler(const handler_setting& setting, const handler_deps& with) {
    const auto tell = [&log = with.env.log](const message& received, const error& why) {
        log.warn(
            "Handler of {Endpoint} not reached for {MessageId}: {Error}",
            {{"Endpoint", received.endpoint}, {"MessageId", received.id}, {"Error", why.what()}});
    };
    return make_http_handler({.url = setting.text, .lease = setting.lease, .tell_failure = tell},
                             with.caller);
}

/// `key` is what it stands under in the file.
result<handler> make_handler(std::string_view key, const handler_setting& setting,
                             const handler_deps& with) {
    // An answer is not a request: a configured handler takes only one of them.
    handler made{.run = transactional_handler{},
                 .limit = setting.limit,
                 .lease = setting.lease,
                 .takes_responses = false};
    switch (setting.what) {
        case handler_setting::kind::feature: break;  // Not asked for: features add their own.
        case handler_setting::kind::http: made.run = make_web_handler(setting, with); return made;
        case handler_setting::kind::sql: break;
    }
    POSTHORN_LET(script,
                 checked_script({key, setting.origin, setting.text}, with.database, with.env.log));
    made.run = make_sql_handler(std::move(script), with.env.clock);
    return made;
}

}  // namespace

result<> add_configured_handlers(const config& settings, const handler_deps& with) {
    using enum handler_setting::kind;
    for (const auto& [endpoint, setting] : settings.handlers) {
        if (setting.what == feature) continue;  // Features add their own.
        POSTHORN_LET(made, make_handler("handlers." + endpoint, setting, with));
        POSTHORN_TRY(with.registry.add(endpoint, std::move(made)));
    }
    for (const auto& [endpoint, setting] : settings.responses) {
        if (setting.what == feature) continue;
        POSTHORN_LET(made, make_handler("responses." + endpoint, setting, with));
        POSTHORN_TRY(with.registry.add_response(endpoint, std::move(made)));
    }
    return {};
}

result<> add_configured_hooks(const config& settings, const environment& env, store& database,
                              node_hooks& to) {
    const auto make = [&](std::string_view key,
                          const sql_setting& setting) -> result<node_hooks::hook> {
        if (setting.text.empty()) return node_hooks::hook{};
        const auto origin = settings.origin_of(key);
        POSTHORN_LET(script, checked_script({key, origin, setting.text}, database, env.log));
        return make_sql_hook(std::move(script), env.clock);
    };
    POSTHORN_LET(dead, make("outbox.on_dead", settings.outbox.on_dead));
    POSTHORN_LET(expired, make("outbox.on_expired", settings.outbox.on_expired));
    to.configure(std::move(dead), std::move(expired));
    return {};
}

}  // namespace posthorn
