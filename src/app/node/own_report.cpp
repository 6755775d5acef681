#include "app/node/own_report.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text/without_password.hpp"

namespace posthorn {
namespace {

namespace fs = std::filesystem;

// Of our tables and their indexes; others in the same database are not ours to count.
constexpr std::string_view server_size_sql =
    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c"
    " WHERE c.relkind = 'r' AND c.relnamespace = (SELECT own.relnamespace FROM pg_class AS own"
    " WHERE own.oid = 'outbox_messages'::regclass)";
constexpr std::string_view file_free_sql =
    "SELECT f.freelist_count * p.page_size FROM pragma_freelist_count AS f, pragma_page_size AS p";

std::optional<std::uint64_t> bytes_of(const std::string& file) {
    std::error_code missing;
    const auto bytes = fs::file_size(file, missing);
    return missing ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

void ask(store& where, std::string_view sql, std::optional<std::uint64_t>& into,
         database_report& about) {
    const auto asked = where.read([&](store_reader& from) {
        return from.query(sql, {}, [&](const sql_row& row) {
            into = static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(0)));
        });
    });
    if (!asked) about.size_error = asked.error().what();
}

database_report look_at(const config& settings, const database_url& url, store& where,
                        std::string holds) {
    const auto place = settings.path_of(url);
    database_report one{.kind = url.on_server ? "PostgreSQL" : "SQLite",
                        .place = url.in_memory ? "memory" : without_password(place),
                        .holds = std::move(holds)};
    if (url.on_server) {
        ask(where, server_size_sql, one.bytes, one);
        return one;
    }
    ask(where, file_free_sql, one.free_bytes, one);
    if (url.in_memory) return one;
    one.bytes = bytes_of(place);
    one.log_bytes = bytes_of(place + "-wal");
    if (where.upkeep() != nullptr) one.disk = disk_of(where);
    return one;
}

std::vector<retention_rule> rules_of(const config& settings) {
    std::vector<retention_rule> all{
        {"sent messages", settings.outbox.sent_retention},
        {"dead letters", settings.outbox.dead_retention},
        {"expired messages", settings.outbox.expired_retention},
        {"resolved dead letters", settings.outbox.resolved_retention},
        {"what the inbox remembers", settings.inbox.retention},
        {"the log of changes", settings.store.changes_retention},
    };
    if (!settings.store.cleanup)
        for (auto& each : all) each.keeps.reset();
    return all;
}

}  // namespace

store_report report_on_store(const config& settings, const std::vector<store*>& stores,
                             std::vector<sqlite::backup_state> backups) {
    store_report report;
    const bool split = settings.store.inbox_url.has_value() && stores.size() > 1;
    report.databases.push_back(look_at(settings, settings.store.url, *stores.front(),
                                       split ? "outbox" : "outbox and inbox"));
    if (split)
        report.databases.push_back(
            look_at(settings, *settings.store.inbox_url, *stores.back(), "inbox"));
    if (!settings.backup.folder.empty() && !settings.store.url.on_server)
        report.backup_plan = {.folder = settings.path_of(settings.backup.folder),
                              .every = settings.backup.every,
                              .keep = settings.backup.keep};
    report.backups = std::move(backups);
    report.retention = rules_of(settings);
    return report;
}

}  // namespace posthorn
