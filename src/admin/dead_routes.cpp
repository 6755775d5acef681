#include "admin/dead_routes.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/dead_render.hpp"
#include "admin/json_answer.hpp"
#include "admin/shapes.hpp"
#include "audit/last_change.hpp"
#include "base/async/run_on.hpp"
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
        const auto asked = parse_dead_query(request.query, parts().time.wall());
        if (!asked) co_return answer_to_error(asked.error());
        co_return answer_to(co_await list_dead(place(asked->of_inbox), *asked));
    }
    task<http_response> groups(http_request request) {
        const auto asked = parse_groups_query(request.query);
        if (!asked) co_return answer_to_error(asked.error());
        co_return answer_to(co_await group_dead(place(asked->of_inbox), *asked));
    }
    task<http_response> show(http_request request, admin_caller who);
    task<http_response> change(http_request request, dead_verb verb);
    task<http_response> change_many(http_request request, dead_verb verb);

private:
    /// A refusal with who was faster, where the audit knows it.
    task<error> name_winner(error refusal, std::string path) const;
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
    if (*payload && !who.rights.payloads)
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

task<error> dead_endpoints::name_winner(error refusal, std::string path) const {
    if (refusal.code() != error_code::state_changed) co_return refusal;
    const auto last = co_await run_on(
        parts().readers, [&] { return last_change_of(*parts().stores.front(), path); });
    if (!last || !*last) co_return refusal;
    const auto& [who, target, at] = **last;
    co_return error(refusal.code(), fmt::format("{}; '{}' changed it last, at {}, by {}",
                                                refusal.what(), who, to_iso8601(at), target));
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
    if (!changed) {
        auto path = fmt::format("/_rf/dead/{}", id->to_string());
        co_return answer_to_error(co_await name_winner(changed.error(), std::move(path)));
    }
    wake();
    co_return answer_to(changed);
}

// A status alone leaves no message out of its list.
bool narrows(const dead_filter& wanted) {
    const auto texts = {&wanted.destination,  &wanted.endpoint, &wanted.correlation_id,
                        &wanted.causation_id, &wanted.tenant,   &wanted.order_key,
                        &wanted.error};
    return wanted.cause > 0 || wanted.since || wanted.until ||
           std::ranges::any_of(texts, [](const auto* text) { return !text->empty(); });
}

task<http_response> dead_endpoints::change_many(http_request request, dead_verb verb) {
    const auto asked = parse_dead_query(request.query, parts().time.wall());
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

constexpr std::string_view dead_list_query =
    "{status?: Status, destination?: string, endpoint?: string, cause?: integer, error?: string,"
    " correlationId?: string, causationId?: string,"
    " tenant?: string, orderKey?: string, since?: time, until?: time, before?: integer,"
    " limit?: integer, database?: 'inbox' | 'main'}";
constexpr std::string_view dead_change_query =
    "{status?: Status, destination?: string, endpoint?: string, cause?: integer, error?: string,"
    " correlationId?: string, causationId?: string,"
    " tenant?: string, orderKey?: string, since?: time, until?: time, after?: integer,"
    " all?: boolean, database?: 'inbox' | 'main'}";

struct verb_row {
    dead_verb verb;
    std::string_view one;
    std::string_view many;  // Empty if it is for one at a time.
    std::string_view body;
};
constexpr std::array verbs{
    verb_row{dead_verb::requeue, "Sends one again.", "Sends the next slice of a filter again.",
             "{newId?: boolean, expiresInMs?: integer}"},
    verb_row{dead_verb::resolve, "Closes one with a reason.",
             "Closes the next slice of a filter with a reason.", "{reason?: string}"},
    verb_row{dead_verb::remove, "Deletes one.", "Deletes the next slice of a filter.", ""},
    verb_row{dead_verb::reopen, "Makes one dead again that was resolved.",
             "Makes the next slice of a filter dead again.", ""},
    verb_row{dead_verb::edit, "Changes one, and sends it again if it is asked to.", "",
             "{payload?: string, headers?: string, endpoint?: string, destination?: string,"
             " contentType?: string, maxRetries?: integer, requeue?: boolean, newId?: boolean,"
             " expiresInMs?: integer}"},
};

}  // namespace

void add_dead_routes(admin_surface& into, node_view& node) {
    // As long as a route lives.
    const auto with = std::make_shared<dead_endpoints>(node, into.gate());
    const auto look = [&](std::string path, const route_doc& doc, admin_handler handler) {
        into.add({"GET", std::move(path), admin_role::viewer, doc, std::move(handler)});
    };
    const auto change = [&](std::string path, const route_doc& doc, admin_handler handler) {
        into.add({"POST", std::move(path), admin_role::operator_, doc, std::move(handler)});
    };
    look("/_rf/dead",
         {.summary = "What was given up, newest first.",
          .answer = "{messages: [DeadLetter], next: integer | null}",
          .query = dead_list_query,
          .shapes = shapes::of_messages},
         [with](http_request request, const auto&) { return with->list(std::move(request)); });
    look("/_rf/dead/groups",
         {.summary = "How many died of what, largest first.",
          .answer = "{groups: [{cause: integer, count: integer, destination: string,"
                    " endpoint: string, text: string, firstAt: time, lastAt: time,"
                    " example?: string}], more?: boolean, ungrouped?: integer}",
          .query = "{destination?: string, limit?: integer, database?: 'inbox' | 'main'}"},
         [with](http_request request, const auto&) { return with->groups(std::move(request)); });
    look("/_rf/dead/{messageId}",
         {.summary = "One message with every attempt; its state is its ETag too.",
          .answer = "DeadDetail",
          .query = shapes::payload_query,
          .shapes = shapes::of_messages},
         [with](http_request request, admin_caller who) {
             return with->show(std::move(request), std::move(who));
         });
    for (const auto& [verb, one, many, body] : verbs) {
        change(fmt::format("/_rf/dead/{{messageId}}/{}", to_string(verb)),
               {.summary = one,
                .answer = "{messageId: string, status: Status | 'Deleted', state?: string}",
                .body = body,
                .headers = "{If-Match?: string}",
                .shapes = shapes::of_messages},
               [with, verb](http_request request, const auto&) {
                   return with->change(std::move(request), verb);
               });
        if (many.empty()) continue;
        change(fmt::format("/_rf/dead/{}", to_string(verb)),
               {.summary = many,
                .answer = "{changed: integer, expired: integer, next: integer | null,"
                          " lowest: integer, highest: integer}",
                .query = dead_change_query,
                .body = body,
                .shapes = shapes::of_messages},
               [with, verb](http_request request, const auto&) {
                   return with->change_many(std::move(request), verb);
               });
    }
}

}  // namespace posthorn
