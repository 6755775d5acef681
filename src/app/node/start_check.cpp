#include "app/node/start_check.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/config/node_watch.hpp"
#include "app/config/secrets.hpp"
#include "app/features.hpp"
#include "app/node/configured_handlers.hpp"
#include "app/store/open_store.hpp"
#include "transport/http/tls.hpp"

namespace posthorn {
namespace {

void check_secrets(const config& settings, config_problems& found) {
    const auto rings = load_secrets(settings, found);
    check_routes(settings, rings, [](std::string_view /*url*/) { return false; }, found);
    std::ignore = load_node_watch(settings, found);
}

void check_certificates(const config& settings, const clock& time, config_problems& found) {
    const auto& tls = settings.tls;
    if (!tls.certificate.empty() && !tls.key.empty()) {
        const auto loaded = tls_server::load(server_files_of(settings), time);
        if (!loaded) found.add(settings.at_key("tls.certificate", loaded.error()));
    }
    if (tls.authority.empty()) return;
    const auto read = make_tls_client(settings.path_of(tls.authority), client_files_of(settings));
    if (!read) found.add(settings.at_key("tls.authority", read.error()));
}

void check_features(const config& settings, config_problems& found) {
    const auto plan = plan_of(core_settings(settings));
    for (const auto* const each : all_features()) {
        const auto said = settings_of(settings, *each);
        auto problems = each->problems(said, message_limits_of(settings));
        std::ranges::move(each->store_problems(said, plan), std::back_inserter(problems));
        for (const auto& [key, why] : problems)
            found.add(settings.origin_of(fmt::format("{}.{}", each->name(), key)), why.what());
    }
}

bool has_sql(const config& settings) {
    const auto is_sql = [](const auto& each) {
        return each.second.what == handler_setting::kind::sql;
    };
    return std::ranges::any_of(settings.handlers, is_sql) ||
           std::ranges::any_of(settings.responses, is_sql) ||
           !settings.outbox.on_dead.text.empty() || !settings.outbox.on_expired.text.empty();
}

/// The database that a key names, if it can be looked at. One that is another service's is a
/// mistake; a server that does not answer now is not one of the file.
std::optional<probed_database> look_at_database(const config& settings, std::string_view key,
                                                const clock& time, start_findings& found) {
    const bool is_inbox = key == "store.inbox_url";
    const auto& url = is_inbox ? *settings.store.inbox_url : settings.store.url;
    std::error_code unusable;
    const bool is_there = url.on_server || (!url.in_memory && std::filesystem::exists(
                                                                  settings.path_of(url), unusable));
    if (!is_there && !has_sql(settings)) return std::nullopt;  // There is nothing to ask it.
    auto seen = probe_database(settings, url, time);
    if (!seen && seen.error().code() == error_code::invalid_configuration) {
        found.problems.add(settings.at_key(key, seen.error()));
        return std::nullopt;
    }
    if (!seen) {
        found.unreachable = seen.error();
        found.remarks.push_back(fmt::format(
            "{} was not checked: {}", has_sql(settings) ? "the SQL of handlers" : "the database",
            seen.error().what()));
        return std::nullopt;
    }
    const auto& service = settings.service.id;
    if (service.empty() || seen->service.empty() || seen->service == service)
        return *std::move(seen);
    found.problems.add(
        settings.origin_of(key),
        fmt::format("the database of {} belongs to the service '{}', not to '{}'; give the name "
                    "back, or give this service a database of its own",
                    key, seen->service, service));
    return std::nullopt;
}

void check_databases(const config& settings, const clock& time, start_findings& found) {
    auto database = look_at_database(settings, "store.url", time, found);
    if (settings.store.inbox_url)  // Where handlers run.
        database = look_at_database(settings, "store.inbox_url", time, found);
    if (!database || !has_sql(settings)) return;
    const auto remark = [&](std::string_view key, std::string_view text) {
        found.remarks.push_back(fmt::format("the SQL of {} cannot work yet: {}", key, text));
    };
    check_configured_handlers(settings, database->ask, remark, found.problems);
    if (!settings.store.inbox_url)  // Otherwise they run in another database than was asked.
        check_configured_hooks(settings, database->ask, remark, found.problems);
}

}  // namespace

void check_start(const config& settings, const clock& time, start_findings& found) {
    check_secrets(settings, found.problems);
    check_certificates(settings, time, found.problems);
    check_features(settings, found.problems);
    check_databases(settings, time, found);
}

config read_and_check(const std::filesystem::path& file, const clock& time, start_findings& found) {
    auto settings = read_config_file(file, found.problems);
    check_start(settings, time, found);
    return settings;
}

}  // namespace posthorn
