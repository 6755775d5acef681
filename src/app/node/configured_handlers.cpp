#include "app/node/configured_handlers.hpp"

#include <algorithm>
#include <utility>

#include "app/config/config_problems.hpp"
#include "app/config/nearest.hpp"
#include "inbox/configured/message_values.hpp"
#include "inbox/configured/sql_handler.hpp"

namespace posthorn {
namespace {

/// SQL of the configuration, and where it stands there.
struct written_sql {
    std::string_view key;
    std::string_view origin;
    std::string_view text;
    bool is_hook = false;  // Of messages that were given up.
};

/// Posthorn's own names begin with an underscore, and so may fields of a payload: a name that is
/// near to one of them, or is known elsewhere, is taken for a mistake.
result<> check_names(const std::vector<sql_statement>& script, bool is_hook) {
    const auto own = names_of_message();
    const auto of_dead = names_of_dead_letter();
    std::vector<std::string_view> known(own.begin(), own.end());
    if (is_hook) known.insert(known.end(), of_dead.begin(), of_dead.end());
    const auto has = [](std::span<const std::string_view> names, std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    };
    for (const auto& statement : script)
        for (const auto& name : statement.parameters) {
            if (!name.starts_with('_') || has(known, name)) continue;
            if (!is_hook && has(of_dead, name))
                return fail(error_code::invalid_configuration,
                            ":{} is known of messages that were given up alone, in "
                            "outbox.on_dead and outbox.on_expired",
                            name);
            if (const auto meant = nearest(name, known))
                return fail(error_code::invalid_configuration, "there is no :{}; did you mean :{}?",
                            name, *meant);
        }
    return {};
}

/// The statements, if the database understands them.
result<std::vector<sql_statement>> usable_script(const written_sql& written, const sql_query& ask,
                                                 const sql_remark_taker& take_remark) {
    const auto wrong = [&](const error& why) {
        return fail(error_code::invalid_configuration, "{}: {}: {}", written.origin, written.key,
                    why.what());
    };
    auto script = parse_sql_script(written.text);
    if (!script) return wrong(script.error());
    if (const auto named = check_names(*script, written.is_hook); !named)
        return wrong(named.error());
    const auto checked = check_sql_script(ask, *script);
    if (!checked) return wrong(checked.error());
    if (!checked->text.empty()) take_remark(written.key, checked->text);
    return script;
}

sql_remark_taker warning_to(logger& log) {
    return [&log](std::string_view of, std::string_view remark) {
        log.warn("The SQL of {Key} cannot work yet: {Error}", {{"Key", of}, {"Error", remark}});
    };
}

async_handler make_web_handler(const handler_setting& setting, const handler_deps& with) {
    const auto tell = [&log = with.env.log](const message& received, const error& why) {
        log.warn(
            "Handler of {Endpoint} not reached for {MessageId}: {Error}",
            {{"Endpoint", received.endpoint}, {"MessageId", received.id}, {"Error", why.what()}});
    };
    const auto keep = [&kept = with.refused, &time = with.env.clock](const message& received,
                                                                     const http_response& answer) {
        kept.note({.at = time.wall(),
                   .id = received.id,
                   .source = received.source,
                   .endpoint = received.endpoint,
                   .status = answer.status,
                   .answer = answer.body});
    };
    return make_http_handler(
        {.url = setting.text, .lease = setting.lease, .tell_failure = tell, .tell_refusal = keep},
        with.caller);
}

/// `key` is what it stands under in the file. SQL that cannot be used is added to `found`.
std::optional<handler> make_handler(std::string_view key, const handler_setting& setting,
                                    const handler_deps& with, config_problems& found) {
    // An answer is not a request: a configured handler takes only one of them.
    handler made{.run = transactional_handler{},
                 .limit = setting.limit,
                 .lease = setting.lease,
                 .takes_responses = false};
    switch (setting.what) {
        case handler_setting::kind::feature: return std::nullopt;  // Features add their own.
        case handler_setting::kind::http: made.run = make_web_handler(setting, with); return made;
        case handler_setting::kind::sql: break;
    }
    auto script = usable_script({key, setting.origin, setting.text}, query_of(with.database),
                                warning_to(with.env.log));
    if (!script) {
        found.add(script.error());
        return std::nullopt;
    }
    made.run = make_sql_handler(*std::move(script), with.env.clock);
    return made;
}

}  // namespace

void check_configured_handlers(const config& settings, const sql_query& ask,
                               const sql_remark_taker& take_remark, config_problems& found) {
    const auto check = [&](std::string_view section, const auto& handlers) {
        for (const auto& [endpoint, setting] : handlers) {
            if (setting.what != handler_setting::kind::sql) continue;
            const auto key = fmt::format("{}.{}", section, endpoint);
            const auto script =
                usable_script({key, setting.origin, setting.text}, ask, take_remark);
            if (!script) found.add(script.error());
        }
    };
    check("handlers", settings.handlers);
    check("responses", settings.responses);
}

void check_configured_hooks(const config& settings, const sql_query& ask,
                            const sql_remark_taker& take_remark, config_problems& found) {
    const auto check = [&](std::string_view key, const sql_setting& setting) {
        if (setting.text.empty()) return;
        const auto origin = settings.origin_of(key);
        const auto script = usable_script({key, origin, setting.text, true}, ask, take_remark);
        if (!script) found.add(script.error());
    };
    check("outbox.on_dead", settings.outbox.on_dead);
    check("outbox.on_expired", settings.outbox.on_expired);
}

result<> add_configured_handlers(const config& settings, const handler_deps& with) {
    config_problems found;
    for (const auto& [endpoint, setting] : settings.handlers)
        if (auto made = make_handler("handlers." + endpoint, setting, with, found))
            POSTHORN_TRY(with.registry.add(endpoint, *std::move(made)));
    for (const auto& [endpoint, setting] : settings.responses)
        if (auto made = make_handler("responses." + endpoint, setting, with, found))
            POSTHORN_TRY(with.registry.add_response(endpoint, *std::move(made)));
    return found.outcome();
}

result<> add_configured_hooks(const config& settings, const environment& env, store& database,
                              node_hooks& to) {
    const auto make = [&](std::string_view key,
                          const sql_setting& setting) -> result<node_hooks::hook> {
        if (setting.text.empty()) return node_hooks::hook{};
        const auto origin = settings.origin_of(key);
        POSTHORN_LET(script, usable_script({key, origin, setting.text, true}, query_of(database),
                                           warning_to(env.log)));
        return make_sql_hook(std::move(script), env.clock);
    };
    POSTHORN_LET(dead, make("outbox.on_dead", settings.outbox.on_dead));
    POSTHORN_LET(expired, make("outbox.on_expired", settings.outbox.on_expired));
    to.configure(std::move(dead), std::move(expired));
    return {};
}

}  // namespace posthorn
