#include "app/configured_handlers.hpp"

#include <utility>

#include "inbox/configured/queue.hpp"
#include "inbox/configured/sql_handler.hpp"

namespace posthorn {
namespace {

std::unexpected<error> wrong_sql(std::string_view endpoint, const handler_setting& setting,
                                 const error& why) {
    return fail(error_code::invalid_configuration, "{}: handlers.{}: {}", setting.origin, endpoint,
                why.what());
}

async_handler make_web_handler(const handler_setting& setting, const handler_parts& with) {
    const auto tell = [&log = with.log](const message& received, const error& why) {
        log.warn(
            "Handler of {Endpoint} not reached for {MessageId}: {Error}",
            {{"Endpoint", received.endpoint}, {"MessageId", received.id}, {"Error", why.what()}});
    };
    return make_http_handler({.url = setting.text, .lease = setting.lease, .tell_failure = tell},
                             with.caller);
}

result<handler> make_handler(const std::string& endpoint, const handler_setting& setting,
                             const handler_parts& with) {
    handler made{.run = transactional_handler{}, .limit = setting.limit, .lease = setting.lease};
    switch (setting.what) {
        case handler_setting::kind::queue: made.run = make_queue_handler(with.time); return made;
        case handler_setting::kind::http: made.run = make_web_handler(setting, with); return made;
        case handler_setting::kind::sql: break;
    }
    auto script = parse_sql_script(setting.text);
    if (!script) return wrong_sql(endpoint, setting, script.error());
    const auto checked = check_sql_script(with.database, *script);
    if (!checked) return wrong_sql(endpoint, setting, checked.error());
    if (!checked->text.empty())
        with.log.warn("Handler of {Endpoint} cannot work yet: {Error}",
                      {{"Endpoint", endpoint}, {"Error", checked->text}});
    made.run = make_sql_handler(*std::move(script), with.time);
    return made;
}

}  // namespace

result<> add_configured_handlers(const config& settings, const handler_parts& with) {
    for (const auto& [endpoint, setting] : settings.handlers) {
        auto made = make_handler(endpoint, setting, with);
        if (!made) return std::unexpected(std::move(made).error());
        POSTHORN_TRY(with.registry.add(endpoint, *std::move(made)));
    }
    return {};
}

}  // namespace posthorn
