#include "app/cli/kit/admin_source.hpp"

#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "app/cli/kit/list_query.hpp"
#include "base/text/percent.hpp"

namespace posthorn::cli {

namespace json = boost::json;

namespace {

std::string shown_with(bool payload) { return payload ? "?payload=true" : ""; }

}  // namespace

result<json::object> admin_source::ask(const admin_question& what) {
    POSTHORN_LET(reply, exchange(what));
    return read_answer(reply, name());
}

result<std::string> admin_source::metrics() {
    POSTHORN_LET(reply, exchange({.path = "/metrics"}));
    if (reply.status == 200) return std::move(reply.body);
    auto refused = read_answer(reply, name());
    if (!refused) return std::unexpected(refused.error());
    return fail(error_code::malformed_request, "{} has no metrics; is it a node's admin address?",
                name());
}

result<json::object> admin_source::health() { return ask({.path = "/_rf/health"}); }
result<json::object> admin_source::outbox_stats() { return ask({.path = "/_rf/outbox/stats"}); }
result<json::object> admin_source::inbox_stats() { return ask({.path = "/_rf/inbox/stats"}); }
result<json::object> admin_source::lanes() { return ask({.path = "/_rf/outbox/lanes"}); }

result<json::object> admin_source::messages(const list_choice& wanted) {
    return ask({.path = "/_rf/outbox?" + to_query(wanted)});
}

result<json::object> admin_source::inbox_failed(const list_choice& wanted) {
    return ask({.path = "/_rf/inbox/failed" + narrowing_query(wanted)});
}

result<json::object> admin_source::inbox_refused() { return ask({.path = "/_rf/inbox/refused"}); }
result<json::object> admin_source::inbox_messages(const list_choice& wanted) {
    return ask({.path = "/_rf/inbox?" + to_query(wanted)});
}

result<json::object> admin_source::inbox_message(const uuid& id, const std::string& source,
                                                 bool with_payload) {
    auto path = fmt::format("/_rf/inbox/{}?payload={}", id.to_string(), with_payload);
    if (!source.empty()) path += "&source=" + percent_encode(source);
    return ask({.path = std::move(path)});
}

result<json::object> admin_source::message(const uuid& id, bool with_payload) {
    return ask({.path = fmt::format("/_rf/outbox/{}{}", id.to_string(), shown_with(with_payload))});
}

result<json::object> admin_source::pause(const pause_choice& wanted) {
    if (wanted.destination.empty())
        return fail(error_code::invalid_argument, "name a destination, such as 'stock'");
    auto path = fmt::format("/_rf/outbox/lanes/{}/{}", percent_encode(wanted.destination),
                            wanted.paused ? "pause" : "resume");
    if (!wanted.reason.empty()) path += "?reason=" + percent_encode(wanted.reason);
    return ask({.method = "POST", .path = std::move(path)});
}

result<json::object> admin_source::try_now(const std::string& destination) {
    if (destination.empty())
        return fail(error_code::invalid_argument, "name a destination, such as 'stock'");
    return ask({.method = "POST",
                .path = fmt::format("/_rf/outbox/lanes/{}/try", percent_encode(destination))});
}

result<json::object> admin_source::replay(const replay_choice& wanted) {
    std::string path = "/_rf/outbox/replay?since=" + percent_encode(wanted.since);
    if (!wanted.until.empty()) path += "&until=" + percent_encode(wanted.until);
    if (!wanted.destination.empty()) path += "&destination=" + percent_encode(wanted.destination);
    if (!wanted.after.empty()) path += "&after=" + percent_encode(wanted.after);
    return ask({.method = wanted.count_only ? "GET" : "POST", .path = std::move(path)});
}

result<json::object> admin_source::dead(const dead_choice& wanted) {
    return ask({.path = "/_rf/dead?" + to_query(wanted)});
}

result<json::object> admin_source::dead_groups(const dead_choice& wanted) {
    return ask({.path = "/_rf/dead/groups?" + to_query(wanted)});
}

result<json::object> admin_source::dead_message(const uuid& id, bool with_payload) {
    return ask({.path = fmt::format("/_rf/dead/{}{}", id.to_string(), shown_with(with_payload))});
}

result<json::object> admin_source::change_dead(const uuid& id, const dead_order& how) {
    return ask({.method = "POST",
                .path = fmt::format("/_rf/dead/{}/{}", id.to_string(), how.verb),
                .body = how.body,
                .if_state = how.if_state});
}

result<json::object> admin_source::change_many_dead(const dead_choice& wanted,
                                                    const dead_order& how) {
    return ask({.method = "POST",
                .path = fmt::format("/_rf/dead/{}?{}&all=true", how.verb, to_query(wanted)),
                .body = how.body});
}

http_request to_request(const admin_question& what) {
    http_request request;
    request.method = what.method;
    if (!what.body.empty()) {
        request.body = json::serialize(what.body);
        request.headers.add("Content-Type", "application/json");
    }
    if (!what.if_state.empty())
        request.headers.add("If-Match", fmt::format("\"{}\"", what.if_state));
    return request;
}

namespace {

std::unexpected<error> refused(const http_response& reply, const json::value& body,
                               std::string_view who) {
    std::string message = fmt::format("{} answered with status {}", who, reply.status);
    auto code = error_code::io_failed;
    if (const auto* fields = body.if_object()) {
        if (const auto* text = fields->if_contains("message"); text && text->is_string())
            message = text->as_string();
        if (const auto* name = fields->if_contains("error"); name && name->is_string()) {
            const auto known = error_catalogue();
            const auto found =
                std::ranges::find(known, std::string_view(name->as_string()), &error_info::name);
            if (found != known.end()) code = found->code;
        }
    }
    if (reply.status == 401 || reply.status == 403)
        return fail(error_code::access_denied, "{}{}", message,
                    // It says by itself what to do where the node has no keys.
                    message.find("POSTHORN_ADMIN_KEY") == message.npos
                        ? "; give --key or set POSTHORN_ADMIN_KEY"
                        : "");
    return fail(code, "{}", message);
}

}  // namespace

result<json::object> read_answer(const http_response& reply, std::string_view who) {
    boost::system::error_code wrong;
    auto body = json::parse(reply.body, wrong);
    // A node that does not work says so with 503, and why, in the same object.
    const bool is_report = !wrong && body.is_object() && body.as_object().contains("working");
    if (reply.status != 200 && !is_report) return refused(reply, wrong ? json::value() : body, who);
    if (wrong || !body.is_object())
        return fail(error_code::malformed_request,
                    "{} did not answer as a Posthorn does; is it a node's admin address?", who);
    return std::move(body.as_object());
}

}  // namespace posthorn::cli
