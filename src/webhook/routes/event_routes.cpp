#include "webhook/routes/event_routes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <boost/json/array.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "message/event.hpp"
#include "store/async.hpp"
#include "webhook/attempt_page.hpp"
#include "webhook/routes/recover.hpp"
#include "webhook/routes/route_kit.hpp"
#include "webhook/routes/webhook_shapes.hpp"
#include "webhook/subscription_json.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t ids_at_once = 250;
constexpr std::int64_t shown_max = 1000;

struct event_delivery {
    uuid id;
    subscription_set::target to;
    std::string status;
    std::string error;
};

/// An event and what became of its deliveries to subscriptions that there are.
struct event_report {
    std::string type;
    std::string status;
    std::vector<event_delivery> deliveries;
};

std::string_view state_of(std::string_view status) {
    if (status == "Sent") return "delivered";
    if (status == "Pending") return "waiting";
    return status == "Resolved" ? "resolved" : "exhausted";
}

/// Their ids follow from the event and the subscriptions, so no index by event is needed.
result<> find_deliveries(store_reader& from, const uuid& event, const subscription_set& among,
                         std::vector<event_delivery>& into) {
    std::map<std::string, subscription_set::target, std::less<>> wanted;
    const auto look = [&]() -> result<> {
        std::string sql =
            "SELECT message_id, status, last_error FROM outbox_messages"
            " WHERE message_id IN (?";
        for (std::size_t i = 1; i < wanted.size(); ++i) sql += ", ?";
        sql += ")";
        std::vector<sql_param> with;
        for (const auto& [id, to] : wanted) with.emplace_back(std::string_view(id));
        POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) {
            const auto id = uuid::parse(row.text(0));
            const auto found = wanted.find(row.text(0));
            if (!id || found == wanted.end()) return;
            into.push_back(
                {*id, found->second, std::string(row.text(1)), std::string(row.text(2))});
        }));
        wanted.clear();
        return {};
    };
    for (const auto& each : among.all()) {
        wanted.emplace(child_id(event, each->of.id).to_string(), each);
        if (wanted.size() == ids_at_once) POSTHORN_TRY(look());
    }
    if (!wanted.empty()) POSTHORN_TRY(look());
    return {};
}

result<event_report> read_report(store_reader& from, const uuid& event,
                                 const subscription_set& among) {
    event_report made;
    const auto id = event.to_string();
    const std::array<sql_param, 2> with{std::string_view(id), events_destination};
    POSTHORN_TRY(from.query(
        "SELECT endpoint, status FROM outbox_messages WHERE message_id = ? AND destination = ?",
        with, [&](const sql_row& row) {
            made.type = row.text(0);
            made.status = row.text(1);
        }));
    if (made.status.empty())
        return fail(error_code::not_found, "there is no event {}, or it is past its retention", id);
    POSTHORN_TRY(find_deliveries(from, event, among, made.deliveries));
    return made;
}

json::object to_json(const uuid& event, const event_report& report) {
    event_deliveries seen;
    json::array shown;
    for (const auto& each : report.deliveries) {
        const auto state = state_of(each.status);
        ++(state == "delivered"  ? seen.delivered
           : state == "waiting"  ? seen.waiting
           : state == "resolved" ? seen.resolved
                                 : seen.exhausted);
        if (std::ssize(shown) == shown_max) continue;
        json::object one{{"subscription", each.to->of.id.to_string()},
                         {"url", clean_utf8(each.to->of.url, 2048)},
                         {"state", state}};
        if (!each.error.empty()) one["error"] = clean_utf8(each.error, 4000);
        shown.push_back(std::move(one));
    }
    return {{"id", event.to_string()},
            {"eventType", clean_utf8(report.type, 256)},
            {"state", judge_event(report.status == "Sent", seen)},
            {"delivered", seen.delivered},
            {"waiting", seen.waiting},
            {"exhausted", seen.exhausted},
            {"resolved", seen.resolved},
            {"deliveries", std::move(shown)}};
}

result<uuid> event_in(const http_request& request) {
    const auto& text = request.parameters.at("event");
    if (const auto id = uuid::parse(text)) return *id;
    return fail(error_code::invalid_argument, "'{}' is not the id of an event",
                clean_utf8(text, 100));
}

task<result<event_report>> find_report(const webhook_desk& with, uuid event) {
    auto all = co_await with.subscriptions.refresh();
    if (!all) co_return std::unexpected(all.error());
    event_report report;
    POSTHORN_CO_TRY(
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(made, read_report(from, event, **all));
            report = std::move(made);
            return {};
        }));
    co_return report;
}

task<http_response> show(const webhook_desk& with, http_request request) {
    const auto event = event_in(request);
    if (!event) co_return answer_to_error(event.error());
    const auto report = co_await find_report(with, *event);
    if (!report) co_return answer_to_error(report.error());
    co_return answer_with(to_json(*event, *report));
}

task<http_response> list_attempts(const webhook_desk& with, http_request request) {
    const auto event = event_in(request);
    if (!event) co_return answer_to_error(event.error());
    constexpr std::array<std::string_view, 2> known{"limit", "after"};
    const auto fields = read_query_fields(request.query, known);
    if (!fields) co_return answer_to_error(fields.error());
    const auto limit = number_in(*fields, {"limit", shown_max, 50});
    if (!limit) co_return answer_to_error(limit.error());
    const auto after = number_in(*fields, {"after", std::numeric_limits<std::int64_t>::max(), 0});
    if (!after) co_return answer_to_error(after.error());
    json::array shown;
    json::value next;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(page, read_attempts_of_event(
                                   from, *event, *after == 0 ? std::nullopt : std::optional(*after),
                                   *limit));
            for (const auto& each : page) {
                auto one = to_json(each.body);
                one["seq"] = each.seq;
                one["subscription"] = each.body.subscription.to_string();
                shown.push_back(std::move(one));
            }
            if (std::ssize(page) == *limit) next = page.back().seq;
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"attempts", std::move(shown)}, {"next", std::move(next)}});
}

/// Those of its deliveries that were exhausted, found as they are now.
task<result<std::int64_t>> try_again_some(const webhook_desk& with, const event_report& report,
                                          outbox_status status) {
    failed_slice some{.status = status};
    POSTHORN_CO_TRY(
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            for (const auto& each : report.deliveries) {
                if (each.status != to_string(status)) continue;
                POSTHORN_LET(row, from.outbox().find(each.id));
                if (row) some.deliveries.push_back(std::move(row->body));
            }
            return {};
        }));
    std::int64_t number = 0;
    const auto now = with.env.clock.wall();
    POSTHORN_CO_TRY(co_await commit(with.where, [&](store_transaction& tx) -> result<> {
        POSTHORN_LET(tried, try_again(tx, some, now, now + with.life));
        number = tried;
        return {};
    }));
    co_return number;
}

task<http_response> recover(const webhook_desk& with, http_request request) {
    const auto event = event_in(request);
    if (!event) co_return answer_to_error(event.error());
    auto report = co_await find_report(with, *event);
    if (!report) co_return answer_to_error(report.error());
    std::erase_if(report->deliveries, [](const event_delivery& each) {
        return each.to->of.state == subscription_state::disabled;
    });
    std::int64_t recovered = 0;
    for (const auto status : {outbox_status::dead, outbox_status::expired}) {
        const auto some = co_await try_again_some(with, *report, status);
        if (!some) co_return answer_to_error(some.error());
        recovered += *some;
    }
    co_return answer_with({{"id", event->to_string()}, {"recovered", recovered}});
}

}  // namespace

std::string_view judge_event(bool is_fanned_out, const event_deliveries& seen) {
    if (!is_fanned_out || seen.waiting > 0) return "waiting";
    if (seen.exhausted > 0) return seen.delivered > 0 ? "partly" : "exhausted";
    if (seen.delivered > 0) return "delivered";
    return seen.resolved > 0 ? "resolved" : "unheard";
}

std::vector<admin_route> event_routes(const webhook_desk& with) {
    const std::string path = "/_rf/webhooks/events/{event}";
    return {
        {"GET",
         path,
         admin_role::viewer,
         {.summary = "An event, what it has come to, and its deliveries to subscriptions that "
                     "there are; at most 1000 are listed.",
          .answer = "{id: uuid, eventType: string, state: 'waiting' | 'delivered' | 'partly' |"
                    " 'exhausted' | 'resolved' | 'unheard', delivered: integer, waiting: integer,"
                    " exhausted: integer, resolved: integer, deliveries: [{subscription: uuid,"
                    " url: string, state: 'waiting' | 'delivered' | 'exhausted' | 'resolved',"
                    " error?: string}]}"},
         [&with](http_request request, admin_caller /*who*/) {
             return show(with, std::move(request));
         }},
        {"GET",
         path + "/attempts",
         admin_role::viewer,
         {.summary = "What was tried for an event, to whichever subscription, by the number of the "
                     "attempt. `after` is the `next` of the page before.",
          .answer = "{attempts: [{...WebhookAttempt, subscription: uuid}], next: integer | null}",
          .query = "{limit?: integer, after?: integer}",
          .shapes = webhook_shapes},
         [&with](http_request request, admin_caller /*who*/) {
             return list_attempts(with, std::move(request));
         }},
        {"POST",
         path + "/recover",
         admin_role::operator_,
         {.summary = "Tries those deliveries of an event again that were exhausted, unless their "
                     "subscription is disabled.",
          .answer = "{id: uuid, recovered: integer}"},
         [&with](http_request request, admin_caller /*who*/) {
             return recover(with, std::move(request));
         }},
    };
}

}  // namespace posthorn
