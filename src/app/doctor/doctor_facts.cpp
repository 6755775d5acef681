#include "app/doctor/doctor_facts.hpp"

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

#include "app/config/core_settings.hpp"
#include "app/config/feature_keys.hpp"
#include "app/config/secrets.hpp"
#include "app/features.hpp"
#include "app/store/open_store.hpp"
#include "app/store/process_identity.hpp"
#include "app/transports.hpp"
#include "base/text/without_password.hpp"
#include "standby/pair_state.hpp"
#include "standby/standby_feature.hpp"
#include "standby/standby_settings.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/driver/file_locks.hpp"
#include "store/sqlite/driver/version.hpp"
#include "transport/http/types.hpp"

namespace posthorn {
namespace {

namespace fs = std::filesystem;

void add_standby(const config& settings, doctor_facts& facts) {
    const auto said = settings_of(settings, standby_feature());
    const auto plan = plan_of(core_settings(settings));
    const auto how = standby::read_standby_settings(said);
    const auto problems = standby::check_standby_settings(said);
    if (!problems.empty()) facts.standby_error = problems.front().why.what();
    if (const auto why = standby::refuse_plan(said, plan)) facts.standby_error = why->why.what();
    if (how && how->to) {
        facts.standby = to_string(*how->to);
        facts.standby_may_lack =
            how->mode == standby::ship_mode::async || how->lost == standby::when_lost::alone;
        facts.standby_link_is_open =
            !how->to->stays_here() && said.get<std::string>("certificate") == "none";
    }
    if (plan.on_server || plan.in_memory) return;
    const auto kept = standby::load_state(plan.file);
    if (!kept) facts.standby_error = kept.error().what();
    facts.is_standby = kept && *kept && (*kept)->as == standby::pair_state::role::standby;
}

void add_settings(const config& settings, doctor_facts& facts) {
    facts.synchronous_full = settings.store.synchronous == sqlite::synchronous::full;
    facts.durable = settings.is_durable();
    facts.disk_low_water_bytes = settings.store.disk_low_water.bytes;
    facts.shared = settings.store.shared;
    facts.inbox_retention = settings.inbox.retention;
    facts.inbox_retention_needed = inbox_retention_needed(settings);
    if (settings.listen.admin) {
        facts.admin_address = to_string(*settings.listen.admin);
        facts.admin_is_loopback = is_loopback(settings.listen.admin->host);
    }
    facts.admin_keys = settings.admin.keys.size();
    if (settings.listen.http) {
        facts.http_address = to_string(*settings.listen.http);
        facts.http_is_loopback = is_loopback(settings.listen.http->host);
    }
    facts.http_has_tls = !settings.tls.certificate.empty();
    if (settings.origins.contains("service.id")) facts.service = settings.service.id;
    add_standby(settings, facts);
    for (const auto& [destination, route] : settings.routes)
        if (const auto* const kind = transport_of(route.url); kind && !kind->keeps.empty())
            facts.brokers.push_back(fmt::format("{} ({})", destination, kind->keeps));
}

void add_secrets(const config& settings, doctor_facts& facts) {
    config_problems found;
    const auto rings = load_secrets(settings, found);
    check_routes(settings, rings, [](std::string_view /*url*/) { return false; }, found);
    if (const auto outcome = found.outcome(); !outcome) {
        facts.secrets_error = outcome.error().what();
        return;
    }
    for (const auto& [peer, ring] : rings) {
        if (ring->scheme() != signature_scheme::v2)
            facts.legacy_peers.push_back(fmt::format("{} ({})", peer, to_string(ring->scheme())));
        std::size_t shortest = SIZE_MAX;
        for (const auto& key : ring->keys())
            if (!key.revoked) shortest = std::min(shortest, key.value.reveal().size());
        if (shortest != SIZE_MAX) facts.secrets.push_back({peer, shortest});
    }
}

// Before anything opens the database in this process.
void add_locks(const std::string& database, const gather_options& options, doctor_facts& facts) {
    if (const auto user = sqlite::who_has_open(database)) facts.user = describe_holder(*user);
    auto guard = sqlite::who_holds_checkpoints(database);
    // A node lets go of it for the time of a checkpoint of its own.
    constexpr int tries_max = 20;
    constexpr std::chrono::milliseconds pause{5};
    for (int tries = 0; !guard && !facts.user.empty() && options.rest && tries < tries_max;
         ++tries) {
        options.rest(pause);
        guard = sqlite::who_holds_checkpoints(database);
    }
    if (guard) facts.guard = describe_holder(*guard);
}

void add_right(file_rights::kind what, const fs::path& path, doctor_facts& facts) {
    struct stat seen{};
    struct stat above{};
    if (path.empty() || ::stat(path.c_str(), &seen) != 0) return;
    const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const bool is_closed = ::stat(folder.c_str(), &above) == 0 && (above.st_mode & 001U) == 0;
    facts.rights.push_back({what, path.string(), seen.st_mode & 07777U, is_closed});
}

void add_file_rights(const std::string& database, doctor_facts& facts) {
    using kind = file_rights::kind;
    for (const auto* const each : {"", "-wal", "-wal-saved", "-shm"})
        add_right(kind::database, database + each, facts);
    add_right(kind::folder, fs::path(database).parent_path(), facts);
}

void add_rights(const config& settings, const gather_options& options, doctor_facts& facts) {
    using kind = file_rights::kind;
    add_right(kind::secret, settings.path_of(settings.tls.key), facts);
    if (!settings.backup.folder.empty())
        add_right(kind::folder, settings.path_of(settings.backup.folder), facts);
    const auto& url = settings.store.url.path;
    bool holds_secrets = settings.store.url.on_server && without_password(url) != url;
    for (const auto& [peer, secrets] : settings.secrets)
        for (const auto& one : secrets) {
            holds_secrets |= one.where == secret_setting::kind::written;
            if (one.where == secret_setting::kind::file)
                add_right(kind::secret, settings.path_of(fs::path(one.name)), facts);
        }
    if (holds_secrets) add_right(kind::configuration, options.config_file, facts);
}

std::uint64_t bytes_of(const std::string& file) {
    std::error_code missing;
    const auto bytes = fs::file_size(file, missing);
    return missing ? 0 : bytes;
}

std::optional<wall_time> changed_at(const std::string& file) {
    struct stat seen{};
    if (::stat(file.c_str(), &seen) != 0) return std::nullopt;
    return wall_time(std::chrono::seconds(seen.st_mtim.tv_sec));
}

void add_disk(const std::string& database, doctor_facts& facts) {
    std::error_code unusable;
    const auto folder = fs::absolute(database, unusable).parent_path();
    const auto space = fs::space(folder, unusable);
    if (!unusable) {
        facts.disk_free_bytes = space.available;
        facts.disk_bytes = space.capacity;
    }
    facts.database_bytes = bytes_of(database);
    facts.log_bytes = bytes_of(database + "-wal");
    facts.file_changed_at = std::max(changed_at(database), changed_at(database + "-wal"));
}

void add_backups(const config& settings, const std::string& database, doctor_facts& facts) {
    facts.backup_every.reset();
    if (settings.backup.folder.empty()) return;
    facts.backup_every = settings.backup.every;
    const auto found = sqlite::list_backups(settings.path_of(settings.backup.folder), database);
    if (!found)
        facts.backups_error = found.error().what();
    else if (!found->empty())
        facts.newest_backup = found->back().taken_at;
    if (!found) return;
    for (const auto& one : *found) {  // One that is open to others stands for all.
        struct stat seen{};
        if (::stat(one.path.c_str(), &seen) != 0 || (seen.st_mode & 006U) == 0) continue;
        add_right(file_rights::kind::backup, one.path, facts);
        break;
    }
}

void add_file(const std::string& database, bool full, doctor_facts& facts) {
    std::error_code unusable;
    auto seen = fs::exists(database, unusable)
                    ? sqlite::look_at_file(database, full, tables_of_features())
                    : fail(error_code::not_found, "there is no database at {}", database);
    facts.file.reset();
    facts.checked_fully = full;
    if (seen)
        facts.file = *std::move(seen);
    else
        facts.file_error = seen.error().what();
    const bool has_owner = facts.file && !facts.file->lease_owner.empty();
    facts.node_runs = has_owner && !process_is_gone(facts.file->lease_owner) && !facts.user.empty();
}

// Only its node can reach a store in memory.
doctor_facts facts_without_file(const config& settings, const clock& time) {
    doctor_facts facts;
    facts.now = time.wall();
    facts.sqlite_version = sqlite_version_number();
    add_settings(settings, facts);
    add_secrets(settings, facts);
    facts.backup_every.reset();
    facts.file.reset();
    facts.file_error = "the store is in memory, where only its node can reach it";
    return facts;
}

doctor_facts facts_of_server(const config& settings, const gather_options& options,
                             const clock& time) {
    auto facts = facts_without_file(settings, time);
    facts.on_server = true;
    add_rights(settings, options, facts);
    auto seen = look_at_server(
        {.url = settings.path_of(settings.store.url), .schema = settings.store.schema}, time);
    if (!seen) {
        facts.file_error = seen.error().what();
        return facts;
    }
    facts.server_is_synced = seen->is_synced;
    facts.server_is_read_only = seen->is_read_only;
    facts.missing_rights = std::move(seen->missing_rights);
    facts.file = sqlite::file_facts{.service = std::move(seen->service),
                                    .schema = std::move(seen->schema),
                                    .step = seen->step,
                                    .step_known = static_cast<int>(seen->step_known),
                                    .newest = seen->newest,
                                    .dead = seen->dead,
                                    .expired = seen->expired,
                                    .blocked = std::move(seen->blocked),
                                    .numbers_left = seen->numbers_left,
                                    .backlog = std::move(seen->backlog),
                                    .beside = seen->beside};
    return facts;
}

std::string database_of(const config& settings) {
    std::string database = settings.path_of(settings.store.url);
    std::error_code unusable;  // The locks and the log of a link are where it leads to.
    if (fs::exists(database, unusable)) database = fs::canonical(database, unusable).string();
    return database;
}

}  // namespace

doctor_facts gather_own_facts(const config& settings, const clock& time) {
    auto facts = facts_without_file(settings, time);
    facts.node_runs = true;
    facts.on_server = settings.store.url.on_server;
    add_rights(settings, {.config_file = settings.file.string()}, facts);
    if (settings.store.url.on_server || settings.store.url.in_memory) return facts;
    const auto database = database_of(settings);
    facts.user = "this node";
    add_disk(database, facts);
    add_file_rights(database, facts);
    add_backups(settings, database, facts);
    return facts;
}

std::vector<store_finding> find_in_own(const config& settings, const clock& time) {
    const auto facts = gather_own_facts(settings, time);
    std::vector<store_finding> all;
    for (const auto& check : doctor_checks()) {
        if (!check.by_node) continue;
        auto found = check.look(facts);
        all.push_back({.check = std::string(check.name),
                       .level = std::string(to_string(found.level)),
                       .what = std::move(found.what),
                       .why = std::move(found.why),
                       .todo = std::move(found.todo)});
    }
    return all;
}

doctor_facts gather_facts(const config& settings, const gather_options& options,
                          const clock& time) {
    if (settings.store.url.on_server) return facts_of_server(settings, options, time);
    if (settings.store.url.in_memory) return facts_without_file(settings, time);
    const auto database = database_of(settings);
    doctor_facts facts;
    facts.now = time.wall();
    facts.sqlite_version = sqlite_version_number();
    add_settings(settings, facts);
    add_secrets(settings, facts);
    add_locks(database, options, facts);
    add_disk(database, facts);
    add_file_rights(database, facts);
    add_rights(settings, options, facts);
    add_backups(settings, database, facts);
    add_file(database, options.full, facts);
    return facts;
}

}  // namespace posthorn
