#include "app/store/open_store.hpp"

#include <filesystem>
#include <utility>

#include "app/config/config_type.hpp"
#include "app/features.hpp"
#include "base/text/utf8.hpp"
#include "standby/pair_state.hpp"
#include "store/sqlite/driver/commit_watcher.hpp"
#include "store/sqlite/driver/outside_file.hpp"
#include "store/sqlite/upkeep/probe.hpp"

#ifdef POSTHORN_WITH_POSTGRES
#include "store/postgres/commit/foreign_handle.hpp"
#include "store/postgres/commit/news_watcher.hpp"
#include "store/postgres/commit/postgres_store.hpp"
#include "store/postgres/driver/outside_server.hpp"
#include "store/postgres/upkeep/move.hpp"
#include "store/postgres/upkeep/probe.hpp"
#include "store/postgres/upkeep/server_facts.hpp"
#endif

namespace posthorn {

result<std::unique_ptr<store>> open_store(const sqlite::sqlite_options& file,
                                          const std::optional<server_database>& server,
                                          const sqlite::sqlite_seams& seams) {
    if (!server) {
        if (file.vfs.empty()) POSTHORN_TRY(standby::require_no_copy(file.path));
        return sqlite::open(file, seams);
    }
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::open({.url = server->url,
                           .schema = server->schema,
                           .service = file.service,
                           .limits = file.limits,
                           .defaults = file.defaults,
                           .readers = file.readers,
                           .transactions = server->transactions,
                           .above = file.above},
                          {seams.time, seams.writer, seams.log});
#else
    return fail(
        error_code::invalid_configuration,
        "this Posthorn was built without PostgreSQL; build it with POSTHORN_POSTGRES=ON, or "
        "use sqlite: in store.url");
#endif
}

result<std::unique_ptr<outside_database>> open_outside(const std::string& url,
                                                       [[maybe_unused]] const clock& time) {
    const auto read = config_type<database_url>::read(config_value(url));
    if (!read || read->in_memory)
        return fail(error_code::invalid_configuration,
                    "'{}' is not a database; write sqlite: and a path, or postgresql://…",
                    clean_utf8(url.substr(0, url.find(':')), 20));
    if (!read->on_server) return sqlite::outside_file(read->path);
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::outside_server(read->path, time);
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

result<> make_folder_of(const std::string& database) {
    namespace fs = std::filesystem;
    const auto folder = fs::path(database).parent_path();
    std::error_code failure;
    if (!folder.empty() && fs::create_directories(folder, failure))
        fs::permissions(folder, fs::perms::others_all, fs::perm_options::remove, failure);
    if (!failure) return {};
    return fail(error_code::store_unavailable,
                "the folder {} of the database cannot be made: {}; make it, or choose another with "
                "store.url",
                folder.string(), failure.message());
}

result<probed_database> probe_database(const config& settings, const database_url& url,
                                       [[maybe_unused]] const clock& time) {
    if (!url.on_server)
        return sqlite::probe(url.in_memory ? std::string{} : settings.path_of(url),
                             tables_of_features(), time);
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::probe({.url = settings.path_of(url),
                            .schema = settings.store.schema,
                            .application = "posthorn config check"},
                           time);
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

result<std::string> server_definitions([[maybe_unused]] const std::string& schema) {
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::schema_definitions(schema, tables_of_features());
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

result<server_store_facts> look_at_server([[maybe_unused]] const server_database& server,
                                          [[maybe_unused]] const clock& time) {
#ifdef POSTHORN_WITH_POSTGRES
    const auto above = tables_of_features();
    POSTHORN_LET(seen,
                 postgres::look_at_server(
                     {.url = server.url, .schema = server.schema, .application = "posthorn doctor"},
                     above, time));
    return server_store_facts{.service = std::move(seen.service),
                              .step = seen.step,
                              .step_known = seen.step_known,
                              .dead = seen.dead,
                              .expired = seen.expired,
                              .blocked = std::move(seen.blocked),
                              .backlog = std::move(seen.backlog),
                              .beside = seen.beside,
                              .newest = seen.newest,
                              .is_synced = seen.is_synced,
                              .is_read_only = seen.is_read_only,
                              .schema = std::move(seen.schema),
                              .numbers_left = seen.numbers_left,
                              .missing_rights = std::move(seen.missing_rights)};
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

result<std::vector<std::int64_t>> ask_server([[maybe_unused]] const server_database& server,
                                             [[maybe_unused]] std::string_view sql,
                                             [[maybe_unused]] const clock& time) {
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::ask_server(
        {.url = server.url, .schema = server.schema, .application = "posthorn doctor"},
        std::string(sql), time);
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

#ifdef POSTHORN_WITH_POSTGRES
namespace {

postgres::move_options options_of(const store_move& asked) {
    return {.file = asked.file,
            .url = asked.to.url,
            .schema = asked.to.schema,
            .id = asked.id,
            .above = tables_of_features(),
            .progress = asked.progress};
}

}  // namespace

result<store_moved> move_store(const store_move& asked, const clock& time) {
    POSTHORN_TRY(standby::require_no_copy(asked.file));
    POSTHORN_LET(done, postgres::move_to_server(options_of(asked), time));
    store_moved told{.to = std::move(done.to),
                     .tables = {},
                     .left = std::move(done.left),
                     .was_there = done.was_there};
    for (auto& one : done.tables) told.tables.push_back({std::move(one.name), one.rows, one.hash});
    return told;
}

result<> take_move_back(const store_move& asked, const clock& time) {
    return postgres::take_move_back(options_of(asked), time);
}

static std::unique_ptr<node_service> watch_server(const server_database& server,
                                                  const store& opened, const node_seams& seams,
                                                  std::function<void()> on_news) {
    return std::make_unique<postgres::news_watcher>(
        postgres::connect_options{.url = server.url, .schema = server.schema},
        postgres::name_of(opened),
        postgres::news_watcher::parts{seams.env.clock, seams.env.timer, seams.env.readers,
                                      seams.env.log},
        std::move(on_news));
}
#else
result<store_moved> move_store(const store_move&, const clock&) {
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
}
result<> take_move_back(const store_move&, const clock&) {
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
}
static std::unique_ptr<node_service> watch_server(const server_database&, const store&,
                                                  const node_seams&, std::function<void()>) {
    return nullptr;
}
#endif

std::unique_ptr<node_service> watch_others(const std::string& file, const core_options& options,
                                           const store& opened, const node_seams& seams,
                                           watcher_calls calls) {
    if (options.server)
        return watch_server(*options.server, opened, seams, std::move(calls.on_news));
    if (!options.watch_commits) return nullptr;
    return std::make_unique<sqlite::commit_watcher>(file, seams.env.timer, seams.env.log,
                                                    std::move(calls.has_changed),
                                                    std::move(calls.on_news));
}

result<uuid> insert_on_server([[maybe_unused]] pg_conn* handle, const config& settings,
                              [[maybe_unused]] const message& body) {
    if (!settings.store.url.on_server)
        return fail(error_code::invalid_argument,
                    "the node's database is not on PostgreSQL; give a handle on the node's own");
#ifdef POSTHORN_WITH_POSTGRES
    return postgres::insert_on(handle, {settings.store.schema, settings.service.id}, body);
#else
    return fail(error_code::invalid_configuration, "this Posthorn was built without PostgreSQL");
#endif
}

}  // namespace posthorn
