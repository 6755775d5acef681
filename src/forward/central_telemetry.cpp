#include "forward/central_telemetry.hpp"

#include <array>
#include <optional>
#include <utility>

#include <boost/json.hpp>

#include "base/text/utf8.hpp"
#include "forward/forward_rows.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::string_view telemetry_endpoint = "CachedCallTelemetry";
// A centre may be out for long, and what it was not told it does not know.
constexpr std::chrono::days telemetry_life{30};
constexpr std::size_t telemetry_text_max = 4000;

json::value told(const std::string& text) {
    if (text.empty()) return nullptr;
    return json::value(clean_utf8(text, telemetry_text_max));
}

json::value told(const std::optional<std::int64_t>& number) {
    return number ? json::value(*number) : json::value(nullptr);
}

json::object snapshot_of(const tracked_operation& one) {
    return {{"Kind", one.kind},
            {"TargetSummary", told(one.target)},
            {"Status", one.status},
            {"RetryCount", one.retry_count},
            {"LastError", told(one.last_error)},
            {"HttpStatus", told(one.http_status)},
            {"CreatedAtUtc", one.created_at},
            {"UpdatedAtUtc", one.updated_at},
            {"TerminalAtUtc", told(one.ended_at)},
            {"SourceInstanceId", told(one.source_instance)},
            {"SourceScript", told(one.source_script)},
            {"SourceNode", told(one.source_node)}};
}

json::object audit_of(const forward_attempt& one) {
    return {{"Channel", one.channel},
            {"Target", told(one.target)},
            {"Outcome", one.outcome},
            {"RetryCount", one.retry_count},
            {"LastError", told(one.last_error)},
            {"HttpStatus", told(one.http_status)},
            {"CreatedAtUtc", to_iso8601(one.created_at)},
            {"OccurredAtUtc", to_iso8601(one.occurred_at)},
            {"DurationMs", one.duration.count()},
            {"SourceInstanceId", told(one.source_instance)},
            {"ExecutionId", told(one.execution_id)},
            {"SourceScript", told(one.source_script)},
            {"ParentExecutionId", told(one.parent_execution_id)}};
}

std::string_view status_after(outbox_status to) {
    switch (to) {
        case outbox_status::sent: return "Delivered";
        case outbox_status::pending: return "Retrying";
        case outbox_status::resolved: return "Failed";
        case outbox_status::dead:
        case outbox_status::expired: break;
    }
    return "Parked";
}

}  // namespace

std::string write_telemetry(const tracked_operation& stands, const forward_attempt* after,
                            std::string_view site) {
    json::object all{{"TrackedOperationId", stands.id.to_string()},
                     {"SourceSite", site},
                     {"Snapshot", snapshot_of(stands)}};
    if (after != nullptr) all["Attempt"] = audit_of(*after);
    return json::serialize(all);
}

tracked_operation standing_after(const forward_attempt& seen, outbox_status to, wall_time at) {
    const auto now = to_iso8601(at);
    const bool ended = to == outbox_status::sent || to == outbox_status::resolved;
    return {.id = seen.id,
            .kind = seen.category,
            .target = seen.target,
            .status = std::string(status_after(to)),
            .retry_count = seen.retry_count,
            .last_error = seen.last_error,
            .http_status = seen.http_status,
            .created_at = to_iso8601(seen.created_at),
            .updated_at = now,
            .ended_at = ended ? now : std::string(),
            .source_instance = seen.source_instance,
            .source_script = seen.source_script,
            .source_node = seen.source_site};
}

detail::send_request central_telemetry::request(const tracked_operation& stands,
                                                const forward_attempt* after) const {
    return {.destination = with_.centre,
            .endpoint = telemetry_endpoint,
            .payload = write_telemetry(stands, after, with_.site),
            .options = {.order_key = stands.id.to_string(),
                        .max_retries = retry_for_ever,
                        .expires_in = telemetry_life}};
}

result<> central_telemetry::send(store_transaction& tx, detail::send_request what) const {
    auto made = with_.maker.make(std::move(what));
    if (!made) return {};  // What the centre is told has no say in what becomes of the work.
    POSTHORN_TRY(tx.outbox().insert(*std::move(made)));
    return {};
}

result<> central_telemetry::tell(store_transaction& tx, const tracked_operation& stands,
                                 const forward_attempt& seen) const {
    return send(tx, request(stands, &seen));
}

result<> central_telemetry::tell_standing(store_transaction& tx, const uuid& id) const {
    std::optional<tracked_operation> stands;
    const auto text = id.to_string();
    const std::array<sql_param, 1> with{std::string_view(text)};
    POSTHORN_TRY(tx.query(tracked_sql, with,
                          [&](const sql_row& row) { stands = read_tracked_row(id, row); }));
    if (!stands) return {};
    return send(tx, request(*stands, nullptr));
}

}  // namespace posthorn
