#include "app/node/start_check.hpp"

#include <algorithm>

#include "app/config/core_settings.hpp"
#include "app/config/node_watch.hpp"
#include "app/config/secrets.hpp"
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

bool has_sql(const config& settings) {
    const auto is_sql = [](const auto& each) {
        return each.second.what == handler_setting::kind::sql;
    };
    return std::ranges::any_of(settings.handlers, is_sql) ||
           std::ranges::any_of(settings.responses, is_sql) ||
           !settings.outbox.on_dead.text.empty() || !settings.outbox.on_expired.text.empty();
}

void check_handlers(const config& settings, const clock& time, start_findings& found) {
    if (!has_sql(settings)) return;
    const auto database = probe_database(settings, time);
    if (!database) {  // A server that does not answer now is not a mistake in the file.
        found.remarks.push_back(
            fmt::format("the SQL of handlers was not checked: {}", database.error().what()));
        return;
    }
    const auto remark = [&](std::string_view key, std::string_view text) {
        found.remarks.push_back(fmt::format("the SQL of {} cannot work yet: {}", key, text));
    };
    check_configured_handlers(settings, *database, remark, found.problems);
    if (!settings.store.inbox_url)  // Otherwise they run in another database than was asked.
        check_configured_hooks(settings, *database, remark, found.problems);
}

}  // namespace

void check_start(const config& settings, const clock& time, start_findings& found) {
    check_secrets(settings, found.problems);
    check_certificates(settings, time, found.problems);
    check_handlers(settings, time, found);
}

config read_and_check(const std::filesystem::path& file, const clock& time, start_findings& found) {
    auto settings = read_config_file(file, found.problems);
    check_start(settings, time, found);
    return settings;
}

}  // namespace posthorn
