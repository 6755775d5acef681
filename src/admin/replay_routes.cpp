#include "admin/replay_routes.hpp"

#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "feature/answers.hpp"
#include "operations/replay_operations.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

task<http_response> replay(node_view& node, http_request request, bool count_only) {
    const auto& parts = node.parts();
    const auto now = parts.time.wall();
    const auto asked = parse_replay_query(request.query, now);
    if (!asked) co_return answer_to_error(asked.error());
    const dead_place at{.where = asked->of_inbox ? *parts.stores.back() : *parts.stores.front(),
                        .readers = parts.readers,
                        .now = now};
    const auto done =
        count_only ? co_await count_replay(at, *asked) : co_await replay_slice_of(at, *asked);
    if (!done) co_return answer_to_error(done.error());
    if (!count_only && done->replayed > 0 && parts.wake) parts.wake();
    json::object shown{{"replayed", done->replayed},
                       {"expired", done->expired},
                       {"until", to_iso8601(asked->until)}};
    shown["next"] = done->next.empty() ? json::value(nullptr) : json::value(done->next);
    co_return json_response(200, json::serialize(shown));
}

constexpr std::string_view replay_answer =
    "{replayed: integer, expired: integer, until: time, next: string | null}";
constexpr std::string_view replay_parameters =
    "{since: time, until?: time, destination?: string, after?: string,"
    " database?: 'inbox' | 'main'}";

}  // namespace

void add_replay_routes(admin_surface& into, node_view& node) {
    into.add({"GET",
              "/_rf/outbox/replay",
              admin_role::viewer,
              {.summary = "How many delivered messages of a time would be sent again, to a receiver"
                          " that was restored.",
               .answer = replay_answer,
               .query = replay_parameters},
              [&node](http_request request, const auto&) {
                  return replay(node, std::move(request), true);
              }});
    into.add({"POST",
              "/_rf/outbox/replay",
              admin_role::operator_,
              {.summary = "Makes the next slice of delivered messages of a time pending again,"
                          " under their ids.",
               .answer = replay_answer,
               .query = replay_parameters},
              [&node](http_request request, const auto&) {
                  return replay(node, std::move(request), false);
              }});
}

}  // namespace posthorn
