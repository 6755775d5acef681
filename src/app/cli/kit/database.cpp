#include "app/cli/kit/database.hpp"

#include <filesystem>
#include <future>

#include <CLI/CLI.hpp>

#include "app/config/core_settings.hpp"
#include "app/features.hpp"
#include "app/store/open_store.hpp"

namespace posthorn::cli {

std::string config_file_or_default(std::string named) {
    std::error_code unusable;
    if (named.empty() && std::filesystem::exists(config_file_default, unusable))
        return config_file_default;
    return named;
}

void database_choice::declare(CLI::App& options) {
    options
        .add_option("-c,--config", config_file,
                    "the node's configuration (posthorn.toml, if it is here)")
        ->type_name("FILE");
    options.add_option("--database", database, "the database, in place of the configuration's")
        ->type_name("FILE");
    options.add_option("--schema", schema, "the schema of a database on a server, likewise")
        ->type_name("NAME");
}

result<config> database_choice::settings() const {
    const auto here = config_file_or_default({});
    if (config_file.empty() && database.empty() && here.empty())
        return fail(error_code::invalid_argument,
                    "say which database: --config FILE or --database FILE, or change to the folder "
                    "of a {}",
                    config_file_default);
    auto settings = !config_file.empty() ? load_config(config_file)
                    : database.empty()   ? load_config(here)
                                         : result<config>(config{});
    if (settings && is_server_url(database)) {
        settings->store.url = {.path = database, .on_server = true};
    } else if (settings && !database.empty()) {
        POSTHORN_TRY(require_path(database));
        settings->store.url = {std::filesystem::absolute(database).string()};
    }
    if (settings && !schema.empty()) settings->store.schema = schema;
    return settings;
}

namespace {

/// Only to look makes nothing: a name that is wrong would otherwise get tables of its own.
result<> require_there(const config& settings, const std::string& path, const clock& time) {
    std::error_code unusable;
    if (!settings.store.url.on_server) {
        if (std::filesystem::exists(path, unusable)) return {};
        return fail(error_code::not_found,
                    "there is no database at {}; make it with 'posthorn init', or name another one",
                    path);
    }
    const auto seen = look_at_server({path, settings.store.schema}, time);
    if (!seen && seen.error().code() == error_code::not_found)
        return fail(error_code::not_found,
                    "the schema {} of that server has no tables of Posthorn; make them with "
                    "'posthorn init', or name another one with --schema or store.schema",
                    settings.store.schema);
    POSTHORN_TRY(seen);
    return {};
}

}  // namespace

database_session::database_session()
    : ids_([this] { return clock_.wall(); }, random_),
      log_({.level = log_level::warn}, [this] { return clock_.wall(); }) {}

database_session::~database_session() {
    if (store_) store_->stop();
}

result<std::unique_ptr<database_session>> database_session::open(const config& settings,
                                                                 if_missing missing) {
    if (settings.store.url.in_memory)
        return fail(error_code::invalid_argument,
                    "the store of {} is in memory, where only its node can reach it; ask the node "
                    "with --url, or set store.url to a file",
                    settings.service.id);
    const std::string path = settings.path_of(settings.store.url);
    std::unique_ptr<database_session> made(new database_session);
    if (missing == if_missing::refuse) POSTHORN_TRY(require_there(settings, path, made->clock_));
    // A command that names only a file does not say whose it is.
    const bool is_named = settings.origins.contains("service.id");
    // A command that only uses the database leaves them to the node.
    std::optional<row_defaults> defaults;
    if (missing == if_missing::make) defaults = row_defaults_of(settings);
    std::optional<server_database> server;
    if (settings.store.url.on_server) server = server_database{path, settings.store.schema};
    POSTHORN_LET(opened, open_store({.path = path,
                                     .service = is_named ? settings.service.id : std::string(),
                                     .sync = settings.store.synchronous,
                                     .check = sqlite::check_at_start::none,
                                     .shared = true,
                                     .defaults = defaults,
                                     .above = tables_of_features(),
                                     .disk = {.low_water = settings.store.disk_low_water.bytes}},
                                    server, {made->clock_, made->writer_, made->log_}));
    made->store_ = std::move(opened);
    return made;
}

result<> database_session::commit(unit::work_type work) {
    std::promise<result<>> outcome;
    auto answered = outcome.get_future();
    store_->submit({.work = std::move(work),
                    .done = [&outcome](result<> done) { outcome.set_value(std::move(done)); }});
    return answered.get();
}

}  // namespace posthorn::cli
