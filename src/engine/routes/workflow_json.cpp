#include "engine/routes/workflow_json.hpp"

#include <boost/json/parse.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

}  // namespace

std::string time_text(std::int64_t ms) {
    return to_iso8601(wall_time(std::chrono::milliseconds(ms)));
}

json::value stored_json(const std::string& text) {
    boost::system::error_code wrong;
    auto value = json::parse(text, wrong);
    if (wrong) return json::value(clean_utf8(text, shown_text_max));
    return value;
}

json::object workflow_json(const instance_row& one) {
    json::object made{{"seq", one.instance},
                      {"workflow", one.workflow},
                      {"id", clean_utf8(one.id, shown_text_max)},
                      {"instance", one.name.to_string()},
                      {"version", one.version},
                      {"run", one.run},
                      {"status", to_string(one.status)},
                      {"startedAt", time_text(one.started_at)}};
    if (one.parent != 0) made["parent"] = one.parent;
    if (one.ended_at) made["endedAt"] = time_text(*one.ended_at);
    if (!one.reason.empty()) made["reason"] = clean_utf8(one.reason, shown_text_max);
    return made;
}

json::object workflow_json(const step_difference& differs) {
    json::object made{{"step", differs.step}};
    if (differs.recorded.empty()) return made;
    made["recorded"] = clean_utf8(differs.recorded, shown_text_max);
    made["found"] = clean_utf8(differs.found, shown_text_max);
    return made;
}

std::optional<json::value> state_json(const std::string& stored) {
    if (stored.empty()) return {};
    return stored_json(stored);
}

json::array workflow_json(const std::vector<state_change>& changes) {
    json::array all;
    for (const auto& each : changes) {
        json::object made{{"path", each.path}};
        if (each.before) made["before"] = *each.before;
        if (each.after) made["after"] = *each.after;
        all.push_back(std::move(made));
    }
    return all;
}

json::object workflow_json(const recorded_step& step, std::int64_t number, bool with_payloads) {
    json::array commands;
    for (const auto& each : step.commands) commands.push_back(json::string(in_words(each)));
    json::array dropped;
    for (const auto each : step.dropped) dropped.push_back(each);
    json::object made{{"step", number},
                      {"at", time_text(step.at_ms)},
                      {"cause", cause_text(step.cause, step.may_have_taken_effect)},
                      {"commands", std::move(commands)},
                      {"dropped", std::move(dropped)},
                      {"status", to_string(status_of(step.status))}};
    if (step.command != 0) made["command"] = step.command;
    if (!with_payloads) return made;
    made["payload"] = stored_json(step.payload);
    if (step.state) made["state"] = stored_json(step.state->text);
    if (!step.result.empty()) made["result"] = stored_json(step.result);
    return made;
}

}  // namespace posthorn
