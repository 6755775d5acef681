#include "app/node/configured_handlers.hpp"

#include <utility>

#include "app/config/config_problems.hpp"
#include "inbox/configured/sql_handler.hpp"

namespace posthorn {
namespace {

std::unexpected<error> wrong_sql(std::string_view key, const handler_setting& setting,
                                 const error& why) {
    return fail(error_code::invalid_configuration, "{}: {}: {}", setting.origin, key, why.what());
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

/// The statements, if the database understands them.
result<std::vector<sql_statement>> usable_script(std::string_view key,
                                                 const handler_setting& setting,
                                                 const sql_query& ask,
                                                 const sql_remark_taker& take_remark) {
    auto script = parse_sql_script(setting.text);
    if (!script) return wrong_sql(key, setting, script.error());
    const auto checked = check_sql_script(ask, *script);
    if (!checked) return wrong_sql(key, setting, checked.error());
    if (!checked->text.empty()) take_remark(key, checked->text);
    return script;
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
    const auto warn = [&log = with.env.log](std::string_view of, std::string_view remark) {
        log.warn("The SQL of {Key} cannot work yet: {Error}", {{"Key", of}, {"Error", remark}});
    };
    auto script = usable_script(key, setting, query_of(with.database), warn);
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
            const auto script =
                usable_script(fmt::format("{}.{}", section, endpoint), setting, ask, take_remark);
            if (!script) found.add(script.error());
        }
    };
    check("handlers", settings.handlers);
    check("responses", settings.responses);
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

}  // namespace posthorn
