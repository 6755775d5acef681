#include "forward/audit/audit_rows.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <posthorn/detail/time.hpp>

namespace posthorn {
namespace {

sql_param or_null(const std::string& text) {
    return text.empty() ? sql_param(nullptr) : sql_param(std::string_view(text));
}

std::string text_at(const sql_row& row, std::size_t column) {
    return row.is_null(column) ? std::string() : std::string(row.text(column));
}

}  // namespace

result<> write_audit(store_transaction& tx, const forward_attempt& one) {
    const auto id = one.id.to_string();
    const auto created = to_iso8601(one.created_at), occurred = to_iso8601(one.occurred_at);
    const std::array<sql_param, 16> with{
        std::string_view(id),
        std::string_view(one.channel),
        or_null(one.target),
        std::string_view(one.source_site),
        std::string_view(one.outcome),
        std::int64_t{one.retry_count},
        or_null(one.last_error),
        one.http_status ? sql_param(*one.http_status) : sql_param(nullptr),
        std::string_view(created),
        std::string_view(occurred),
        std::int64_t{one.duration.count()},
        or_null(one.source_instance),
        or_null(one.execution_id),
        or_null(one.source_script),
        or_null(one.parent_execution_id),
        std::string_view(id)};
    POSTHORN_TRY(
        tx.execute("INSERT INTO forward_audit (TrackedOperationId, Attempt, Channel, Target,"
                   " SourceSite, Outcome, RetryCount, LastError, HttpStatus, CreatedAtUtc,"
                   " OccurredAtUtc, DurationMs, SourceInstanceId, ExecutionId, SourceScript,"
                   " ParentExecutionId)"
                   " SELECT ?, coalesce(max(Attempt), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                   " ?, ? FROM forward_audit WHERE TrackedOperationId = ?",
                   with));
    return {};
}

result<std::vector<audited_attempt>> read_audit(store_reader& from, const uuid& id,
                                                std::int64_t limit) {
    std::vector<audited_attempt> all;
    const auto text = id.to_string();
    const std::array<sql_param, 2> with{std::string_view(text), limit};
    const auto time = [](std::string_view written) {
        return parse_iso8601(written).value_or(wall_time{});
    };
    POSTHORN_TRY(from.query(
        "SELECT Attempt, Channel, Target, SourceSite, Outcome, RetryCount, LastError, HttpStatus,"
        " CreatedAtUtc, OccurredAtUtc, DurationMs, SourceInstanceId, ExecutionId, SourceScript,"
        " ParentExecutionId FROM forward_audit WHERE TrackedOperationId = ?"
        " ORDER BY Attempt DESC LIMIT ?",
        with, [&](const sql_row& row) {
            auto& one = all.emplace_back();
            one.number = row.integer(0);
            one.what.id = id;
            one.what.channel = text_at(row, 1);
            one.what.target = text_at(row, 2);
            one.what.source_site = text_at(row, 3);
            one.what.outcome = text_at(row, 4);
            one.what.retry_count = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                row.integer(5), 0, std::numeric_limits<std::int32_t>::max()));
            one.what.last_error = text_at(row, 6);
            if (!row.is_null(7)) one.what.http_status = row.integer(7);
            one.what.created_at = time(text_at(row, 8));
            one.what.occurred_at = time(text_at(row, 9));
            one.what.duration = std::chrono::milliseconds(row.integer(10));
            one.what.source_instance = text_at(row, 11);
            one.what.execution_id = text_at(row, 12);
            one.what.source_script = text_at(row, 13);
            one.what.parent_execution_id = text_at(row, 14);
        }));
    return all;
}

result<std::vector<untold_decision>> read_untold(store_reader& from, std::int64_t limit) {
    std::vector<untold_decision> all;
    const std::array<sql_param, 1> most{limit};
    POSTHORN_TRY(
        from.query("SELECT id, what FROM forward_untold LIMIT ?", most, [&](const sql_row& row) {
            all.push_back({.key = text_at(row, 0),
                           .id = uuid::parse(row.text(0)).value_or(uuid{}),
                           .what = text_at(row, 1)});
        }));
    return all;
}

result<bool> forget_untold(store_transaction& tx, const untold_decision& one) {
    const std::array<sql_param, 1> which{std::string_view(one.key)};
    POSTHORN_LET(gone, tx.execute("DELETE FROM forward_untold WHERE id = ?", which));
    if (gone > 0) return true;
    // In a file an id may be bytes, which no text is equal to; the index knows nothing of the cast.
    POSTHORN_LET(odd, tx.execute("DELETE FROM forward_untold WHERE CAST(id AS text) = ?", which));
    return odd > 0;
}

}  // namespace posthorn
