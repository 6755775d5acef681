#include <filesystem>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <unistd.h>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "standby/pair_state.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/upkeep/backup.hpp"

namespace posthorn::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// A command that names only a database does not say whose it is.
std::string service_of(const config& settings) {
    return settings.origins.contains("service.id") ? settings.service.id : std::string();
}

/// The node's databases: one, or two where the inbox has its own.
std::vector<std::string> databases_of(const config& settings) {
    std::vector<std::string> all{settings.path_of(settings.store.url)};
    if (settings.store.inbox_url) all.push_back(settings.path_of(*settings.store.inbox_url));
    return all;
}

json::object to_json(const fs::path& file, const sqlite::backup_facts& facts) {
    return {{"file", file.string()},
            {"service", facts.service},
            {"takenAt", cli::to_json(facts.taken_at)},
            {"bytes", facts.bytes}};
}

class backup_list_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options.add_option("--folder", folder_, "where they are (backup.folder)")
            ->type_name("FOLDER");
        add_json_flag(options, json_);
        options.footer("Example: posthorn backup list --config orders.toml");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        const fs::path folder =
            folder_.empty() ? settings.path_of(settings.backup.folder) : folder_;
        if (folder.empty())
            return fail(error_code::invalid_argument,
                        "say where the backups are: --folder, or folder under [backup]");
        json::array list;
        text_table table({"TAKEN AT", "AGE", "BYTES", "FILE"});
        for (const auto& database : databases_of(settings)) {
            POSTHORN_LET(found, sqlite::list_backups(folder, database));
            for (const auto& one : found) {
                list.push_back(json::object{{"file", one.path.string()},
                                            {"takenAt", to_iso8601(one.taken_at)},
                                            {"bytes", one.bytes}});
                table.add({to_iso8601(one.taken_at), to_age(clock_.wall() - one.taken_at),
                           std::to_string(one.bytes), one.path.string()});
            }
        }
        if (json_)
            print_json(terminal, list);
        else
            terminal.out << (list.empty() ? "none\n" : table.to_text());
        return {};
    }

private:
    real_clock clock_;
    database_choice where_;
    std::string folder_;
    bool json_ = false;
};

class backup_verify_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILES", files_, "the backups")->required();
        add_json_flag(options, json_);
        options.footer("Example: posthorn backup verify backups/orders-20260214T120000Z.db");
    }

    result<> run(const console& terminal) override {
        json::array list;
        result<> first_failure;
        for (const auto& file : files_) {  // One that is damaged hides none of the others.
            const auto facts = sqlite::verify_backup(file);
            if (!facts) {
                if (first_failure) first_failure = std::unexpected(facts.error());
                continue;
            }
            list.push_back(to_json(file, *facts));
            if (json_) continue;
            terminal.out << fmt::format(
                "{} is whole: {} bytes{}\n", file, facts->bytes,
                facts->taken_at ? ", taken at " + to_iso8601(*facts->taken_at) : "");
        }
        if (json_) print_json(terminal, list);
        return first_failure;
    }

private:
    std::vector<std::string> files_;
    bool json_ = false;
};

/// Makes a backup, unless one of the others is asked for.
class backup_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options.add_option("--to", to_, "a folder, or the name of a new file (backup.folder)")
            ->type_name("PATH");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn backup --config orders.toml --to /mnt/backups\n"
            "The database may be in use. It is verified before it gets its name.");
        list_options_ = options.add_subcommand("list", "list the backups of a database");
        list_.declare(*list_options_);
        verify_options_ = options.add_subcommand("verify", "look at every page of backups");
        verify_.declare(*verify_options_);
    }

    result<> run(const console& terminal) override {
        if (list_options_->parsed()) return list_.run(terminal);
        if (verify_options_->parsed()) return verify_.run(terminal);
        POSTHORN_LET(settings, where_.settings());
        if (settings.store.url.on_server)
            return fail(error_code::invalid_argument,
                        "a PostgreSQL server has its own backups, of all that is in the database: "
                        "see docs/operating/scale-out.md");
        if (settings.store.url.in_memory)
            return fail(error_code::invalid_argument,
                        "a store in memory ends with its node, and has no backups; name a file in "
                        "store.url");
        json::array list;
        for (const auto& database : databases_of(settings)) {
            POSTHORN_LET(made, back_up(database, settings, terminal));
            list.push_back(to_json(made.file, made.facts));
            if (!json_)
                terminal.out << fmt::format("{} is made and verified, {} bytes\n",
                                            made.file.string(), made.facts.bytes);
        }
        if (json_) print_json(terminal, list);
        return {};
    }

private:
    result<sqlite::backup_report> back_up(const std::string& database, const config& settings,
                                          const console& terminal) {
        const fs::path to = to_.empty() ? settings.path_of(settings.backup.folder) : to_;
        if (to.empty())
            return fail(error_code::invalid_argument,
                        "say where to: --to, or folder under [backup] of the configuration");
        POSTHORN_TRY(standby::require_no_copy(database));  // Pages of it may be half of a change.
        sqlite::backup_options options{
            .database = database,
            .service = service_of(settings),
            .rest = [this](std::chrono::nanoseconds time) { thread_.rest(time); }};
        const bool is_drawn = !json_ && ::isatty(STDERR_FILENO) == 1;
        if (is_drawn)
            options.progress = [&](std::int64_t done, std::int64_t all) {
                terminal.err << fmt::format("\r{}/{} pages\033[K{}", done, all,
                                            done == all ? "\r\033[K" : "")
                             << std::flush;
            };
        std::error_code unusable;
        if (to.extension() != ".db" || fs::is_directory(to, unusable))
            return sqlite::back_up_into(to, options, clock_);
        if (settings.store.inbox_url)
            return fail(error_code::invalid_argument,
                        "there are two databases, one for the inbox; give --to a folder");
        return sqlite::back_up_as(to, options, clock_);
    }

    real_clock clock_;
    worker_threads thread_{"posthorn-backup"};
    database_choice where_;
    std::string to_;
    bool json_ = false;
    backup_list_command list_;
    backup_verify_command verify_;
    CLI::App* list_options_ = nullptr;
    CLI::App* verify_options_ = nullptr;
};

}  // namespace

std::unique_ptr<command> make_backup_command() { return std::make_unique<backup_command>(); }

}  // namespace posthorn::cli
