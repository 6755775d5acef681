#include "operations/lanes.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <utility>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "base/text/counted.hpp"
#include "base/text/utf8.hpp"
#include "store/async.hpp"
#include "store/inside_unit.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t reason_bytes_max = 1000;
constexpr std::size_t text_characters_max = 1000;
constexpr std::size_t reasons_max = 5;

json::string text(std::string_view value) {
    return json::string(is_utf8(value) ? value : clean_utf8(value, text_characters_max));
}

bool is_shut(const lane_state& lane) {
    return lane.mode != lane_mode::running && lane.mode != lane_mode::probing;
}

void add(lane_report& to, lane_state more) {
    if (!to.runs) {
        to.lane = std::move(more);
        to.runs = true;
        return;
    }
    const auto queued = to.lane.queued + more.queued;
    const auto in_flight = to.lane.in_flight + more.in_flight;
    if (is_shut(more) && !is_shut(to.lane)) to.lane = std::move(more);
    to.lane.queued = queued;
    to.lane.in_flight = in_flight;
}

result<> check(const pause_change& wanted) {
    POSTHORN_TRY(check_destination(wanted.destination));
    if (wanted.reason.size() > reason_bytes_max || !is_utf8(wanted.reason))
        return fail(error_code::invalid_argument,
                    "a reason has at most 1000 bytes of UTF-8; shorten it");
    return {};
}

unit::work_type work_of(const pause_change& wanted, bool& changed) {
    return [wanted, &changed](store_transaction& tx) -> result<> {
        const auto done = wanted.paused ? tx.outbox().pause({.destination = wanted.destination,
                                                             .since = wanted.at,
                                                             .reason = wanted.reason})
                                        : tx.outbox().resume(wanted.destination);
        POSTHORN_TRY(done);
        changed = *done;
        return {};
    };
}

std::string reason_of(const lane_report& one) {
    const auto name = clean_utf8(one.lane.destination, name_bytes_max);
    const auto cause = clean_utf8(one.lane.cause, text_characters_max);
    if (one.pause)
        return fmt::format("'{}' is paused{}{}; 'posthorn outbox resume' lets it go on", name,
                           one.pause->reason.empty() ? "" : ": ",
                           clean_utf8(one.pause->reason, name_bytes_max));
    if (one.lane.breaker != breaker::state::closed)
        return fmt::format(
            "'{}' gives no answer that counts{}{}; its messages wait{}, and one is tried from time "
            "to time ('posthorn outbox try' does it at once)",
            name, cause.empty() ? "" : ": ", cause,
            one.lane.since ? " since " + to_iso8601(*one.lane.since) : "");
    if (one.lane.is_fault && one.lane.mode != lane_mode::no_route)
        return fmt::format("messages to '{}' wait: {}", name, cause);
    return {};
}

}  // namespace

result<> check_destination(std::string_view name) {
    if (name.empty() || name.size() > name_bytes_max || !is_utf8(name))
        return fail(error_code::invalid_argument,
                    "a destination's name has 1 to 255 bytes of UTF-8; 'posthorn outbox stats' "
                    "shows them");
    return {};
}

std::vector<lane_report> merge_lanes(std::vector<lane_state> lanes,
                                     std::vector<paused_destination> paused,
                                     const std::vector<destination_backlog>& backlog) {
    std::map<std::string, lane_report> by_name;
    for (auto& one : lanes) {
        auto& report = by_name[one.destination];
        add(report, std::move(one));
    }
    for (auto& one : paused) {
        auto& report = by_name[one.destination];
        if (!report.runs) {
            report.lane.destination = one.destination;
            report.lane.mode = lane_mode::paused;
        }
        report.pause = std::move(one);
    }
    for (const auto& one : backlog) {
        auto& report = by_name[one.destination];
        report.lane.destination = one.destination;
        report.pending = one.pending.value;
    }
    std::vector<lane_report> all;
    for (auto& [name, one] : by_name) all.push_back(std::move(one));
    return all;
}

result<std::vector<paused_destination>> list_pauses(std::span<store* const> stores) {
    std::vector<paused_destination> all;
    for (auto* const where : stores)
        POSTHORN_TRY(where->read([&](store_reader& from) -> result<> {
            POSTHORN_LET(some, from.outbox().paused());
            all.insert(all.end(), some.begin(), some.end());
            return {};
        }));
    return all;
}

task<result<bool>> change_pause(std::vector<store*> stores, pause_change wanted) {
    POSTHORN_CO_TRY(check(wanted));
    bool any = false;
    for (auto* const where : stores) {
        bool changed = false;
        POSTHORN_CO_TRY(co_await commit(*where, work_of(wanted, changed)));
        any |= changed;
    }
    co_return any;
}

result<bool> change_pause(store& where, const pause_change& wanted) {
    POSTHORN_TRY(check(wanted));
    POSTHORN_TRY(require_outside_unit());
    bool changed = false;
    std::promise<result<>> committed;
    where.submit({.work = work_of(wanted, changed),
                  .done = [&](result<> outcome) { committed.set_value(std::move(outcome)); }});
    POSTHORN_TRY(committed.get_future().get());
    return changed;
}

json::object to_json(const std::vector<lane_report>& lanes) {
    json::array rows;
    for (const auto& one : lanes) {
        const auto& lane = one.lane;
        json::object row{{"destination", text(lane.destination)},
                         {"state", one.runs || one.pause ? to_string(lane.mode) : "unknown"},
                         {"waiting", one.pending}};
        if (!lane.cause.empty()) row["cause"] = text(lane.cause);
        if (one.runs) {
            row["breaker"] = to_string(lane.breaker);
            if (lane.since) row["since"] = to_iso8601(*lane.since);
            if (lane.until) row["until"] = to_iso8601(*lane.until);
            row["queued"] = lane.queued;
            row["inFlight"] = lane.in_flight;
            row["window"] = lane.window;
            row["batch"] = lane.batch;
            row["batchMax"] = lane.batch_max;
            if (lane.rate > 0) row["rate"] = lane.rate;
        }
        if (one.pause) {
            row["pausedSince"] = to_iso8601(one.pause->since);
            if (!one.pause->reason.empty()) row["reason"] = text(one.pause->reason);
        }
        rows.push_back(std::move(row));
    }
    return {{"lanes", std::move(rows)}};
}

json::object to_json(const pause_change& done, bool changed) {
    return {{"destination", text(done.destination)}, {"paused", done.paused}, {"changed", changed}};
}

std::vector<std::string> reasons_of(const std::vector<lane_report>& lanes) {
    std::vector<std::string> reasons;
    std::size_t more = 0;
    const auto add_reason = [&](std::string why) {
        if (reasons.size() < reasons_max)
            reasons.push_back(std::move(why));
        else
            ++more;
    };
    for (const auto& one : lanes)
        if (auto why = reason_of(one); !why.empty()) add_reason(std::move(why));
    if (more > 0)
        reasons.push_back(counted(more, "more destination is shut", "more destinations are shut"));
    return reasons;
}

}  // namespace posthorn
