#include "centre/centre_rows.hpp"

#include <array>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

std::string text_at(const sql_row& row, std::size_t column) {
    return row.is_null(column) ? std::string() : std::string(row.text(column));
}

}  // namespace

result<std::vector<known_site>> read_sites(store_reader& from) {
    std::vector<known_site> all;
    POSTHORN_TRY(from.query(
        "SELECT substr(SiteId, 1, 500), substr(Service, 1, 500), substr(FirstSeenUtc, 1, 50),"
        " (SELECT substr(max(ReceivedAtUtc), 1, 50) FROM SiteCalls"
        "  WHERE SourceService = Service AND SourceSite = SiteId),"
        " (SELECT count(*) FROM SiteCalls WHERE SourceService = Service AND SourceSite = SiteId),"
        " (SELECT count(*) FROM SiteCalls WHERE SourceService = Service AND Status = 'Parked'"
        "  AND SourceSite = SiteId),"
        " (SELECT count(*) FROM centre_notifications WHERE SourceService = Service"
        "  AND SourceSiteId = SiteId)"
        " FROM centre_sites ORDER BY SiteId, Service LIMIT 1000",
        {}, [&](const sql_row& row) {
            all.push_back({.site = text_at(row, 0),
                           .service = text_at(row, 1),
                           .first_seen = text_at(row, 2),
                           .last_told = text_at(row, 3),
                           .calls = row.integer(4),
                           .parked = row.integer(5),
                           .notifications = row.integer(6)});
        }));
    return all;
}

result<known_site> find_site(store_reader& from, std::string_view name) {
    std::vector<known_site> found;
    const auto ask = [&](std::string_view column) {
        const std::array<sql_param, 1> with{name};
        return from.query(
            fmt::format("SELECT SiteId, Service FROM centre_sites WHERE {} = ? LIMIT 2", column),
            with, [&](const sql_row& row) {
                auto& one = found.emplace_back();
                one.site = text_at(row, 0);
                one.service = text_at(row, 1);
            });
    };
    POSTHORN_TRY(ask("SiteId"));
    if (found.empty()) POSTHORN_TRY(ask("Service"));
    if (found.size() == 1) return std::move(found.front());
    if (found.empty())
        return fail(error_code::not_found,
                    "no site {} has been heard of; see 'posthorn centre sites'",
                    clean_utf8(name, 100));
    return fail(error_code::not_found,
                "'{}' stands for several sites; give one of those that 'posthorn centre sites' "
                "lists, by its service where it has no name",
                clean_utf8(name, 100));
}

result<std::vector<site_call>> read_site_calls(store_reader& from, const call_filter& which) {
    std::string sql =
        "SELECT Seq, substr(TrackedOperationId, 1, 200), substr(SourceSite, 1, 500),"
        " substr(SourceService, 1, 500), substr(Kind, 1, 200), substr(TargetSummary, 1, 500),"
        " substr(Status, 1, 200), RetryCount, Attempts, substr(LastError, 1, 4000), HttpStatus,"
        " substr(CreatedAtUtc, 1, 50), substr(UpdatedAtUtc, 1, 50), substr(TerminalAtUtc, 1, 50),"
        " substr(SourceInstanceId, 1, 500), substr(ReceivedAtUtc, 1, 50) FROM SiteCalls"
        " WHERE Seq > ?";
    std::vector<sql_param> with{which.after};
    const auto only = [&](std::string_view column, const std::string& value) {
        if (value.empty()) return;
        sql += fmt::format(" AND {} = ?", column);
        with.emplace_back(std::string_view(value));
    };
    only("SourceService", which.service);
    only("SourceSite", which.site);
    only("Status", which.status);
    sql += " ORDER BY Seq LIMIT ?";
    with.emplace_back(which.limit);
    std::vector<site_call> page;
    POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) {
        page.push_back(
            {.seq = row.integer(0),
             .id = text_at(row, 1),
             .site = text_at(row, 2),
             .service = text_at(row, 3),
             .kind = text_at(row, 4),
             .target = text_at(row, 5),
             .status = text_at(row, 6),
             .retry_count = row.integer(7),
             .attempts = row.integer(8),
             .last_error = text_at(row, 9),
             .http_status = row.is_null(10) ? std::nullopt : std::optional(row.integer(10)),
             .created_at = text_at(row, 11),
             .updated_at = text_at(row, 12),
             .ended_at = text_at(row, 13),
             .source_instance = text_at(row, 14),
             .received_at = text_at(row, 15)});
    }));
    return page;
}

result<std::vector<site_notification>> read_notifications(store_reader& from, std::int64_t after,
                                                          std::int64_t limit) {
    std::vector<site_notification> page;
    const std::array<sql_param, 2> with{after, limit};
    POSTHORN_TRY(
        from.query("SELECT Seq, substr(NotificationId, 1, 200), substr(SourceSiteId, 1, 500),"
                   " substr(SourceService, 1, 500), substr(SourceInstanceId, 1, 500),"
                   " octet_length(PayloadJson), substr(ReceivedAtUtc, 1, 50)"
                   " FROM centre_notifications WHERE Seq > ?"
                   " ORDER BY Seq LIMIT ?",
                   with, [&](const sql_row& row) {
                       page.push_back({.seq = row.integer(0),
                                       .id = text_at(row, 1),
                                       .site = text_at(row, 2),
                                       .service = text_at(row, 3),
                                       .instance = text_at(row, 4),
                                       .bytes = row.integer(5),
                                       .received_at = text_at(row, 6)});
                   }));
    return page;
}

result<bool> may_purge_calls(store_reader& from, std::string_view before) {
    bool found = false;
    const std::array<sql_param, 1> with{before};
    POSTHORN_TRY(
        from.query("SELECT 1 FROM SiteCalls WHERE TerminalAtUtc IS NOT NULL"
                   " AND TerminalAtUtc < ? LIMIT 1",
                   with, [&](const sql_row&) { found = true; }));
    return found;
}

result<std::int64_t> purge_calls(store_transaction& tx, std::string_view before,
                                 std::int64_t limit) {
    const std::array<sql_param, 2> with{before, limit};
    return tx.execute(
        "DELETE FROM SiteCalls WHERE Seq IN (SELECT Seq FROM SiteCalls"
        " WHERE TerminalAtUtc IS NOT NULL AND TerminalAtUtc < ? LIMIT ?)",
        with);
}

}  // namespace posthorn
