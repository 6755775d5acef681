#include "app/cli/top/overview.hpp"

#include <algorithm>

#include <boost/json/array.hpp>

#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

std::string text_in(const json::object& from, std::string_view name) {
    const auto* const value = from.if_contains(name);
    return value != nullptr && value->is_string() ? to_cell(value->as_string(), 400) : "";
}

std::int64_t number_in(const json::object& from, std::string_view name) {
    const auto* const value = from.if_contains(name);
    return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

std::optional<milliseconds> time_in(const json::object& from, std::string_view name,
                                    milliseconds unit) {
    if (const auto* const value = from.if_contains(name); value != nullptr && value->is_int64())
        return value->as_int64() * unit;
    return std::nullopt;
}

template <class Take>
void for_each_in(const json::object& from, std::string_view name, Take take) {
    const auto* const list = from.if_contains(name);
    if (list == nullptr || !list->is_array()) return;
    for (const auto& each : list->as_array()) take(each);
}

std::vector<overview::lane> lanes_of(const node_answers& now, const node_samples& before) {
    std::vector<overview::lane> lanes;
    for_each_in(now.lanes, "lanes", [&](const json::value& each) {
        const auto* const row = each.if_object();
        if (row == nullptr) return;
        overview::lane one{.destination = text_in(*row, "destination"),
                           .state = text_in(*row, "state"),
                           .why = text_in(*row, row->contains("reason") ? "reason" : "cause"),
                           .waiting = number_in(*row, "waiting")};
        one.sent_per_second =
            rate_between(before, now.samples,
                         of_destination("posthorn_outbox_destination_sent_total", one.destination));
        lanes.push_back(std::move(one));
    });
    for_each_in(now.stats, "backlog", [&](const json::value& each) {
        const auto* const row = each.if_object();
        if (row == nullptr) return;
        const auto found =
            std::ranges::find(lanes, text_in(*row, "destination"), &overview::lane::destination);
        if (found != lanes.end()) found->oldest = time_in(*row, "oldestAgeMs", milliseconds(1));
    });
    return lanes;
}

}  // namespace

overview to_overview(const node_answers& now, const node_samples& before) {
    const auto* const counts = now.health.if_contains("outbox");
    const json::object none;
    const auto& outbox = counts != nullptr && counts->is_object() ? counts->as_object() : none;
    overview seen{
        .service = text_in(now.health, "service"),
        .light = text_in(now.health, "status"),
        .pending = number_in(outbox, "pending"),
        .dead = number_in(outbox, "failed"),
        .expired = number_in(outbox, "expired"),
        .blocked = number_in(outbox, "blocked"),
        .sent_per_second = rate_between(before, now.samples, "posthorn_outbox_sent_total"),
        .received_per_second = rate_between(before, now.samples, "posthorn_inbox_processed_total"),
        .send_ms = mean_between(before, now.samples, "rf_outbox_send_duration_ms"),
        .process_ms = mean_between(before, now.samples, "rf_inbox_process_duration_ms"),
        .lanes = lanes_of(now, before)};
    for_each_in(now.health, "reasons", [&](const json::value& each) {
        if (each.is_string()) seen.reasons.push_back(to_cell(each.as_string(), 400));
    });
    for_each_in(now.queues, "queues", [&](const json::value& each) {
        const auto* const row = each.if_object();
        if (row == nullptr) return;
        seen.queues.push_back(
            {.name = text_in(*row, "endpoint"),
             .waiting = number_in(*row, "waiting"),
             .taken = number_in(*row, "taken"),
             .given_up = number_in(*row, "givenUp"),
             .oldest = time_in(*row, "oldestWaitingSeconds", milliseconds(1000))});
    });
    return seen;
}

}  // namespace posthorn::cli
