#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/list_query.hpp"
#include "base/async/io_threads.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/text/percent.hpp"
#include "transport/http/http_client.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

/// Asks a running node through its admin listener.
class node_source final : public admin_source {
public:
    explicit node_source(node_address address) : address_(std::move(address)) {
        while (address_.url.ends_with('/')) address_.url.pop_back();
    }

    result<json::object> health() override { return ask("GET", "/_rf/health"); }
    result<json::object> outbox_stats() override { return ask("GET", "/_rf/outbox/stats"); }
    result<json::object> messages(const list_choice& wanted) override {
        return ask("GET", "/_rf/outbox?" + to_query(wanted));
    }
    result<json::object> message(const uuid& id, bool with_payload) override {
        return ask("GET", fmt::format("/_rf/outbox/{}{}", id.to_string(),
                                      with_payload ? "?payload=true" : ""));
    }
    result<json::object> dead(const dead_choice& wanted) override {
        return ask("GET", "/_rf/dead?" + to_query(wanted));
    }
    result<json::object> dead_groups(const dead_choice& wanted) override {
        return ask("GET", "/_rf/dead/groups?" + to_query(wanted));
    }
    result<json::object> dead_message(const uuid& id, bool with_payload) override {
        return ask("GET", fmt::format("/_rf/dead/{}{}", id.to_string(),
                                      with_payload ? "?payload=true" : ""));
    }
    result<json::object> change_dead(const uuid& id, const dead_order& how) override {
        return ask("POST", fmt::format("/_rf/dead/{}/{}", id.to_string(), how.verb), how);
    }
    result<json::object> change_many_dead(const dead_choice& wanted,
                                          const dead_order& how) override {
        return ask("POST", fmt::format("/_rf/dead/{}?{}&all=true", how.verb, to_query(wanted)),
                   how);
    }
    result<json::object> lanes() override { return ask("GET", "/_rf/outbox/lanes"); }
    result<json::object> pause(const pause_choice& wanted) override {
        auto path = fmt::format("/_rf/outbox/lanes/{}/{}", percent_encode(wanted.destination),
                                wanted.paused ? "pause" : "resume");
        if (!wanted.reason.empty()) path += "?reason=" + percent_encode(wanted.reason);
        return ask("POST", path);
    }
    result<json::object> inbox_stats() override { return ask("GET", "/_rf/inbox/stats"); }
    result<json::object> inbox_messages(const list_choice& wanted) override {
        return ask("GET", "/_rf/inbox?" + to_query(wanted));
    }

private:
    result<json::object> ask(std::string method, const std::string& path,
                             const dead_order& how = {});
    [[nodiscard]] std::unexpected<error> refused(const http_response& reply,
                                                 const json::value& body) const;

    node_address address_;
};

task<result<http_response>> exchange(boost::asio::any_io_executor where, std::string url,
                                     http_request request) {
    real_timer time;
    task_group tasks(where);
    http_client client({.where = where, .tasks = tasks, .time = time});
    auto reply = co_await client.send(std::move(url), std::move(request),
                                      {.exchange_timeout = std::chrono::seconds(30)});
    client.stop();
    co_await tasks.join();
    co_return reply;
}

result<json::object> node_source::ask(std::string method, const std::string& path,
                                      const dead_order& how) {
    http_request request;
    if (!how.body.empty()) {
        request.body = json::serialize(how.body);
        request.headers.add("Content-Type", "application/json");
    }
    if (!how.if_state.empty()) request.headers.add("If-Match", fmt::format("\"{}\"", how.if_state));
    request.method = std::move(method);
    if (!address_.key.empty()) request.headers.add("Authorization", "Bearer " + address_.key);
    io_threads network("posthorn-io");
    const auto reply = start(network.executor(),
                             exchange(network.executor(), address_.url + path, std::move(request)))
                           .get();
    network.stop();
    if (!reply && reply.error().code() == error_code::unreachable)
        return fail(error_code::unreachable,
                    "{}; is the node running, and is this its admin address?",
                    reply.error().what());
    if (!reply) return std::unexpected(reply.error());
    boost::system::error_code wrong;
    auto body = json::parse(reply->body, wrong);
    // A node that does not work says so with 503, and why, in the same object.
    const bool is_report = !wrong && body.is_object() && body.as_object().contains("working");
    if (reply->status != 200 && !is_report) return refused(*reply, wrong ? json::value() : body);
    if (wrong || !body.is_object())
        return fail(error_code::malformed_request,
                    "{} did not answer as a Posthorn does; is it a node's admin address?",
                    address_.url);
    return std::move(body.as_object());
}

std::unexpected<error> node_source::refused(const http_response& reply,
                                            const json::value& body) const {
    std::string message = fmt::format("{} answered with status {}", address_.url, reply.status);
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
        return fail(error_code::access_denied, "{}; give --key or set POSTHORN_ADMIN_KEY", message);
    return fail(code, "{}", message);
}

}  // namespace

std::unique_ptr<admin_source> make_node_source(node_address address) {
    return std::make_unique<node_source>(std::move(address));
}

}  // namespace posthorn::cli
