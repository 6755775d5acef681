#include "admin/lane_routes.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/serialize.hpp>

#include "base/async/run_on.hpp"
#include "base/text/percent.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "operations/lanes.hpp"

namespace posthorn {
namespace {

/// `reason=…` and nothing else.
result<std::string> reason_in(std::string_view query) {
    if (query.empty()) return std::string{};
    constexpr std::string_view name = "reason=";
    if (query.starts_with(name) && query.find('&') == query.npos)
        if (auto decoded = percent_decode(query.substr(name.size()))) return *std::move(decoded);
    return fail(error_code::invalid_argument, "only ?reason=TEXT can be given, percent-encoded");
}

task<http_response> show(node_view& node) {
    const auto& parts = node.parts();
    const auto paused = co_await run_on(parts.readers, [&] { return list_pauses(parts.stores); });
    if (!paused) co_return answer_to_error(paused.error());
    const auto seen = co_await node.look();
    const auto shown = to_json(merge_lanes(node.lanes(), *paused, seen->facts.outbox.backlog));
    co_return json_response(200, boost::json::serialize(shown));
}

std::string destination_in(const http_request& request) {
    const auto name = request.parameters.find("destination");
    return name == request.parameters.end() ? std::string{} : name->second;
}

task<http_response> try_now(node_view& node, http_request request) {
    const auto& parts = node.parts();
    const auto name = destination_in(request);
    if (const auto known = check_destination(name); !known)
        co_return answer_to_error(known.error());
    if (!parts.try_now)
        co_return answer_to_error(
            error(error_code::invalid_argument,
                  "only a node that runs can try; name its admin listener with --url"));
    const auto seen = co_await node.look();
    const auto& waiting = seen->facts.outbox.backlog;
    const auto lanes = node.lanes();
    if (std::ranges::find(lanes, name, &lane_state::destination) == lanes.end() &&
        std::ranges::find(waiting, name, &destination_backlog::destination) == waiting.end())
        co_return answer_to_error(
            error(error_code::not_found,
                  fmt::format("there is no destination '{}': nothing waits for it, and nothing was "
                              "sent there since the node started; 'posthorn outbox lanes' lists "
                              "those that there are",
                              clean_utf8(name, 100))));
    parts.try_now(name);
    co_return json_response(
        200, boost::json::serialize(boost::json::object{{"destination", name}, {"tried", true}}));
}

task<http_response> change(node_view& node, http_request request, bool paused) {
    const auto& parts = node.parts();
    auto reason = reason_in(request.query);
    if (!reason) co_return answer_to_error(reason.error());
    const pause_change wanted{.destination = destination_in(request),
                              .paused = paused,
                              .reason = *std::move(reason),
                              .at = parts.time.wall()};
    const auto changed = co_await change_pause(parts.stores, wanted);
    if (!changed) co_return answer_to_error(changed.error());
    if (parts.wake) parts.wake();
    co_return json_response(200, boost::json::serialize(to_json(wanted, *changed)));
}

}  // namespace

void add_lane_routes(admin_surface& into, node_view& node) {
    into.add({"GET",
              "/_rf/outbox/lanes",
              admin_role::viewer,
              {.summary = "What each destination's lane does.",
               .answer = "{lanes: [{destination: string, state: string, waiting: integer,"
                         " cause?: string, breaker?: string, since?: time, until?: time,"
                         " queued?: integer,"
                         " inFlight?: integer, window?: integer, batch?: integer,"
                         " batchMax?: integer, rate?: number, pausedSince?: time,"
                         " reason?: string}]}"},
              [&node](const auto&, const auto&) { return show(node); }});
    const auto add = [&](std::string path, std::string_view summary, bool paused) {
        into.add({"POST",
                  std::move(path),
                  admin_role::operator_,
                  {.summary = summary,
                   .answer = "{destination: string, paused: boolean, changed: boolean}",
                   .query = "{reason?: string}"},
                  [&node, paused](http_request request, const auto&) {
                      return change(node, std::move(request), paused);
                  }});
    };
    add("/_rf/outbox/lanes/{destination}/pause", "Sends nothing there from now on.", true);
    add("/_rf/outbox/lanes/{destination}/resume", "Lets a destination go on.", false);
    into.add(
        {"POST",
         "/_rf/outbox/lanes/{destination}/try",
         admin_role::operator_,
         {.summary = "Tries a destination at once.",
          .answer = "{destination: string, tried: boolean}"},
         [&node](http_request request, const auto&) { return try_now(node, std::move(request)); }});
}

}  // namespace posthorn
