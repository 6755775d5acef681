#include "webhook/failing/failing_endpoint.hpp"

#include <algorithm>
#include <array>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace posthorn {
namespace {

// As percent that cannot overflow, whatever a row says.
std::int32_t share(double part, double whole) {
    if (whole <= 0 || part <= 0) return 0;
    return static_cast<std::int32_t>(std::min(100 * part / whole, 1000.0));
}

}  // namespace

std::int32_t failing_percent(const failing_endpoint& one, std::int64_t backlog,
                             const failing_rules& rules) {
    const auto waits = share(static_cast<double>(backlog), static_cast<double>(rules.backlog));
    if (one.failures < failing_rules::failures_min) return std::min(waits, 99);
    // Apart: what plain SQL has written may be any number.
    const auto ms = [](wall_time time) {
        return static_cast<double>(time.time_since_epoch().count());
    };
    const auto lasts = share(ms(one.last) - ms(one.since), static_cast<double>(rules.span.count()));
    return std::max(waits, lasts);
}

std::int32_t next_alert(std::int32_t told, std::int32_t percent) {
    for (const auto level : {50, 70, 90, 100})
        if (level > told) return percent >= level ? level : 0;
    return 0;
}

std::string_view to_string(webhook_alert::kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"failing", "disabled", "recovered",
                                                    "exhausted"};
    return names[static_cast<std::size_t>(kind)];
}

std::string render(const webhook_alert& alert) {
    boost::json::object made{{"alert", to_string(alert.what)},
                             {"subscription", alert.of->id.to_string()},
                             {"url", alert.of->url},
                             {"eventType", alert.of->event_type},
                             {"percent", alert.percent}};
    if (!alert.of->tenant.empty()) made["tenant"] = alert.of->tenant;
    if (alert.since) {
        made["since"] = to_iso8601(*alert.since);
        made["failures"] = alert.failures;
    }
    if (const auto* const last = alert.last) {
        boost::json::object attempt{{"event", last->event.to_string()},
                                    {"attempt", last->number},
                                    {"at", to_iso8601(last->at)}};
        if (last->http_status) attempt["httpStatus"] = *last->http_status;
        if (!last->error.empty()) attempt["error"] = last->error;
        if (!last->answer.empty()) attempt["answer"] = last->answer;
        made["last"] = std::move(attempt);
    }
    return boost::json::serialize(made);
}

}  // namespace posthorn
