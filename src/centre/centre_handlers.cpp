#include "centre/centre_handlers.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/transaction.hpp>

#include "base/text/utf8.hpp"
#include "store/swallowed.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t name_max = 200;   // Of a site, in characters.
constexpr std::size_t text_max = 4000;  // Of an error, and the like.

json::object read_payload(const message& received) {
    boost::system::error_code wrong;
    auto read = json::parse(received.payload, wrong);
    if (wrong || !read.is_object())
        throw permanent(fmt::format("{} is not a JSON object", received.endpoint));
    return std::move(read.as_object());
}

std::optional<std::string> text_in(const json::object& from, std::string_view name) {
    const auto* const said = from.if_contains(name);
    if (said == nullptr || !said->is_string()) return std::nullopt;
    auto text = clean_utf8(std::string_view(said->as_string()), text_max);
    std::ranges::replace(text, '\0', ' ');  // Which a server cannot hold.
    return text;
}

std::optional<std::int64_t> number_in(const json::object& from, std::string_view name) {
    const auto* const said = from.if_contains(name);
    if (said == nullptr || !said->is_int64()) return std::nullopt;
    return said->as_int64();
}

uuid id_in(const json::object& from, std::string_view name, const message& received) {
    const auto text = text_in(from, name);
    const auto id = text ? uuid::parse(*text) : std::nullopt;
    if (!id) throw permanent(fmt::format("{} has no {} that is an id", received.endpoint, name));
    return *id;
}

std::string site_in(const json::object& from, std::string_view name) {
    const auto said = text_in(from, name).value_or("");
    if (said.find_first_not_of(" \t\r\n") == std::string::npos)
        return std::string(site_without_name);
    return clean_utf8(said, name_max);
}

/// Of no message's doing, so none is charged, and it comes again.
error not_stored(std::string_view table) {
    return swallowed(table, error_code::store_busy).error();
}

std::optional<std::string> service_of(transaction& in, const std::string& site) {
    return in.query_value<std::string>("SELECT Service FROM centre_sites WHERE SiteId = ?", site);
}

/// Empty if the service may speak for the site, which is its own from then on; else whose it is.
std::string taken_by_another(context& in, const std::string& site, const std::string& now) {
    const auto& service = in.received().source;
    const bool is_named = site != site_without_name;
    if (is_named)
        if (const auto known = service_of(in, site))
            return *known == service ? std::string() : *known;
    in.execute(
        "INSERT INTO centre_sites (Service, SiteId, FirstSeenUtc) VALUES (?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        service, site, now);
    if (!is_named) return {};
    const auto owner = service_of(in, site);  // Two may have come at once.
    if (!owner) throw not_stored("centre_sites");
    return *owner == service ? std::string() : *owner;
}

std::string ack(const uuid& id, const std::string& refused = {}) {
    json::object said{{"NotificationId", id.to_string()}, {"Accepted", refused.empty()}};
    if (!refused.empty()) said["Error"] = refused;
    return json::serialize(said);
}

std::string take_notification(context& in, const message& received, const std::string& now) {
    const auto said = read_payload(received);
    const auto id = id_in(said, "NotificationId", received);
    const auto site = site_in(said, "SourceSiteId");
    if (const auto owner = taken_by_another(in, site, now); !owner.empty())
        return ack(id, fmt::format("the site {} belongs to another service", site));
    const auto key = id.to_string();
    const auto stored = in.execute(
        "INSERT INTO centre_notifications (NotificationId, SourceSiteId, SourceInstanceId,"
        " SourceService, PayloadJson, ReceivedAtUtc) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (NotificationId) DO NOTHING",
        key, site, text_in(said, "SourceInstanceId"), received.source, received.payload, now);
    if (stored > 0) return ack(id);
    const auto first = in.query_value<std::string>(
        "SELECT SourceService FROM centre_notifications WHERE NotificationId = ?", key);
    if (!first) throw not_stored("centre_notifications");
    if (*first == received.source) return ack(id);
    return ack(id, "this NotificationId came from another service before");
}

bool is_tracking_status(const std::string& text) {
    constexpr std::array<std::string_view, 6> all{"Submitted", "Retrying", "Delivered",
                                                  "Parked",    "Failed",   "Discarded"};
    return std::ranges::find(all, text) != all.end();
}

constexpr std::string_view mirror_sql =
    "INSERT INTO SiteCalls (SourceService, TrackedOperationId, SourceSite, Kind, TargetSummary,"
    " Status, RetryCount, LastError, HttpStatus, CreatedAtUtc, UpdatedAtUtc, TerminalAtUtc,"
    " SourceInstanceId, SourceScript, SourceNode, Attempts, Channel, Outcome, OccurredAtUtc,"
    " DurationMs, ExecutionId, ParentExecutionId, ReceivedAtUtc)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (SourceService, TrackedOperationId) DO UPDATE SET"
    " SourceSite = excluded.SourceSite, Kind = excluded.Kind,"
    " TargetSummary = excluded.TargetSummary, Status = excluded.Status,"
    " RetryCount = excluded.RetryCount, LastError = excluded.LastError,"
    " HttpStatus = excluded.HttpStatus, CreatedAtUtc = excluded.CreatedAtUtc,"
    " UpdatedAtUtc = excluded.UpdatedAtUtc, TerminalAtUtc = excluded.TerminalAtUtc,"
    " SourceInstanceId = excluded.SourceInstanceId, SourceScript = excluded.SourceScript,"
    " SourceNode = excluded.SourceNode,"
    // What is in the row may have been written by hand, and has no say in what is taken.
    " Attempts = CASE WHEN SiteCalls.Attempts BETWEEN 0 AND 1000000000000"
    " THEN SiteCalls.Attempts + excluded.Attempts ELSE 1000000000000 END,"
    " Channel = coalesce(excluded.Channel, SiteCalls.Channel),"
    " Outcome = coalesce(excluded.Outcome, SiteCalls.Outcome),"
    " OccurredAtUtc = coalesce(excluded.OccurredAtUtc, SiteCalls.OccurredAtUtc),"
    " DurationMs = coalesce(excluded.DurationMs, SiteCalls.DurationMs),"
    " ExecutionId = coalesce(excluded.ExecutionId, SiteCalls.ExecutionId),"
    " ParentExecutionId = coalesce(excluded.ParentExecutionId, SiteCalls.ParentExecutionId),"
    " ReceivedAtUtc = excluded.ReceivedAtUtc";

std::string take_telemetry(context& in, const message& received, const std::string& now) {
    const auto said = read_payload(received);
    const auto id = id_in(said, "TrackedOperationId", received);
    const auto* const stands = said.if_contains("Snapshot");
    if (stands == nullptr || !stands->is_object())
        throw permanent("CachedCallTelemetry has no Snapshot");
    const auto& row = stands->as_object();
    const auto status = text_in(row, "Status").value_or("");
    if (!is_tracking_status(status))
        throw permanent(fmt::format("CachedCallTelemetry has the status '{}', which there is not",
                                    clean_utf8(status, 50)));
    const auto site = site_in(said, "SourceSite");
    if (!taken_by_another(in, site, now).empty())
        throw permanent(fmt::format("the site {} belongs to another service", site));
    const auto* const attempt = said.if_contains("Attempt");
    const bool tried = attempt != nullptr && attempt->is_object();
    const json::object none;
    const auto& of = tried ? attempt->as_object() : none;
    const auto stored = in.execute(
        mirror_sql, received.source, id.to_string(), site, text_in(row, "Kind").value_or(""),
        text_in(row, "TargetSummary"), status, number_in(row, "RetryCount").value_or(0),
        text_in(row, "LastError"), number_in(row, "HttpStatus"),
        text_in(row, "CreatedAtUtc").value_or(now), text_in(row, "UpdatedAtUtc").value_or(now),
        text_in(row, "TerminalAtUtc"), text_in(row, "SourceInstanceId"),
        text_in(row, "SourceScript"), text_in(row, "SourceNode"), tried ? 1 : 0,
        text_in(of, "Channel"), text_in(of, "Outcome"), text_in(of, "OccurredAtUtc"),
        number_in(of, "DurationMs"), text_in(of, "ExecutionId"), text_in(of, "ParentExecutionId"),
        now);
    if (stored == 0) throw not_stored("SiteCalls");
    return {};
}

}  // namespace

transactional_handler make_notification_handler(const clock& time) {
    return [&time](context& in, const message& received) {
        return take_notification(in, received, to_iso8601(time.wall()));
    };
}

transactional_handler make_telemetry_handler(const clock& time) {
    return [&time](context& in, const message& received) {
        return take_telemetry(in, received, to_iso8601(time.wall()));
    };
}

}  // namespace posthorn
