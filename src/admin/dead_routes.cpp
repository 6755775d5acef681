#include "admin/dead_routes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/dead_render.hpp"
#include "admin/json_answer.hpp"
#include "operations/dead_operations.hpp"
#include "operations/query.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

// `"0123456789abcdef"`, as the ETag gave it, with quotes or without; a star is any.
std::string state_asked_for(const http_request& request) {
    auto tag = request.headers.find("If-Match").value_or("");
    if (tag.size() >= 2 && tag.starts_with('"') && tag.ends_with('"'))
        tag = tag.substr(1, tag.size() - 2);
    return tag == "*" ? std::string() : std::string(tag);
}

/// The routes' handlers over one node.
class dead_endpoints {
public:
    dead_endpoints(node_view& node, admin_gate& gate) : node_(node), gate_(gate) {}

    task<http_response> list(http_request request) {
        const auto asked = parse_dead_query(request.query);
        if (!asked) co_return answer_to_error(asked.error());
        co_return answer_to(co_await list_dead(place(asked->of_inbox), *asked));
    }
    task<http_response> groups(http_request request) {
        const auto asked = parse_dead_query(request.query);
        if (!asked) co_return answer_to_error(asked.error());
        co_return answer_to(co_await group_dead(place(asked->of_inbox), *asked));
    }
    task<http_response> show(http_request request, admin_caller who);
    task<http_response> change(http_request request, dead_verb verb);
    task<http_response> change_many(http_request request, dead_verb verb);

private:
    [[nodiscard]] const node_view_deps& parts() const { return node_.parts(); }
    [[nodiscard]] dead_place place(store& where) const {
        return {.where = where, .readers = parts().readers, .now = parts().time.wall()};
    }
    [[nodiscard]] dead_place place(bool of_inbox) const {
        return place(of_inbox ? *parts().stores.back() : *parts().stores.front());
    }
    void wake() const {
        if (parts().wake) parts().wake();
    }

    node_view& node_;
    admin_gate& gate_;
};

task<http_response> dead_endpoints::show(http_request request, admin_caller who) {
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto payload = parse_show_query(request.query);
    if (!payload) co_return answer_to_error(payload.error());
    if (*payload && !who.payloads)
        co_return gate_.refuse(request, who,
                               "reading payloads needs a key with that right: payloads = true "
                               "beside it in admin.keys");
    result<dead_view> found = fail(error_code::not_found, "no store");
    for (auto* const where : parts().stores) {
        found = co_await show_dead(place(*where), *id, *payload);
        if (found || found.error().code() != error_code::not_found) break;
    }
    if (!found) co_return answer_to_error(found.error());
    auto response = json_response(200, json::serialize(to_json(*found, *payload)));
    response.headers.add("ETag", fmt::format("\"{}\"", found->row.state));
    co_return response;
}

task<http_response> dead_endpoints::change(http_request request, dead_verb verb) {
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    auto asked = parse_dead_request(verb, request.body);
    if (!asked) co_return answer_to_error(asked.error());
    asked->how.if_state = state_asked_for(request);
    result<dead_changed> changed = fail(error_code::not_found, "no store");
    for (auto* const where : parts().stores) {
        changed = co_await change_dead(place(*where), *id, *asked);
        if (changed || changed.error().code() != error_code::not_found) break;
    }
    if (changed) wake();
    co_return answer_to(changed);
}

// A status alone leaves no message out of its list.
bool narrows(const dead_filter& wanted) {
    const auto texts = {&wanted.destination, &wanted.endpoint, &wanted.tenant, &wanted.order_key,
                        &wanted.error};
    return wanted.cause > 0 || wanted.since || wanted.until ||
           std::ranges::any_of(texts, [](const auto* text) { return !text->empty(); });
}

task<http_response> dead_endpoints::change_many(http_request request, dead_verb verb) {
    const auto asked = parse_dead_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    const auto how = parse_dead_request(verb, request.body);
    if (!how) co_return answer_to_error(how.error());
    if (!asked->all && !narrows(asked->wanted))
        co_return answer_to_error(error(error_code::invalid_argument,
                                        "say which messages, such as by destination or cause in "
                                        "the query; all=true changes all of them"));
    const auto progress = co_await change_many_dead(place(asked->of_inbox), *asked, *how);
    if (progress && progress->done.changed > 0) wake();
    co_return answer_to(progress);
}

}  // namespace

void add_dead_routes(router& routes, node_view& node, admin_gate& gate) {
    const auto with = std::make_shared<dead_endpoints>(node, gate);  // As long as a route lives.
    const auto look = [&](std::string path, admin_handler handler) {
        routes.add("GET", std::move(path), gate.guarded(admin_role::viewer, std::move(handler)));
    };
    const auto change = [&](std::string path, admin_handler handler) {
        routes.add("POST", std::move(path),
                   gate.guarded(admin_role::operator_, std::move(handler)));
    };
    look("/_rf/dead",
         [with](http_request request, const auto&) { return with->list(std::move(request)); });
    look("/_rf/dead/groups",
         [with](http_request request, const auto&) { return with->groups(std::move(request)); });
    look("/_rf/dead/{messageId}", [with](http_request request, admin_caller who) {
        return with->show(std::move(request), std::move(who));
    });
    for (const auto verb : {dead_verb::requeue, dead_verb::resolve, dead_verb::remove,
                            dead_verb::reopen, dead_verb::edit}) {
        change(fmt::format("/_rf/dead/{{messageId}}/{}", to_string(verb)),
               [with, verb](http_request request, const auto&) {
                   return with->change(std::move(request), verb);
               });
        if (verb == dead_verb::edit) continue;
        change(fmt::format("/_rf/dead/{}", to_string(verb)),
               [with, verb](http_request request, const auto&) {
                   return with->change_many(std::move(request), verb);
               });
    }
}

}  // namespace posthorn
