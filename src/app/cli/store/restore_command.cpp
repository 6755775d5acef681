#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/store/restore_archive.hpp"
#include "standby/pair_state.hpp"
#include "store/sqlite/upkeep/restore.hpp"

namespace posthorn::cli {
namespace {

class restore_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILE", file_, "the backup");
        where_.declare(options);
        archive_.declare(options);
        options.add_flag("--inbox", inbox_, "in place of store.inbox_url, where there is one");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn restore backups/orders-20260214T120000Z.db --config orders.toml\n"
            "Stop the node and everything else that uses the database first. What is there is "
            "kept\naside. Then let the senders replay: see docs/operating/backup.md.\n"
            "Example: posthorn restore --at 2026-02-14T12:00:00Z --config orders.toml --to "
            "then.db\n"
            "From the archive that standby.archive keeps, into a new file: see "
            "docs/operating/archive.md.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        if (inbox_ && !settings.store.inbox_url)
            return fail(error_code::invalid_argument,
                        "--inbox is for a store.inbox_url, and there is none");
        if (settings.store.url.on_server)
            return fail(error_code::invalid_argument,
                        "a PostgreSQL server has its own backups, of all that is in the database: "
                        "see docs/operating/scale-out.md");
        if (settings.store.url.in_memory)
            return fail(error_code::invalid_argument,
                        "a store in memory ends with its node, and has no backups; name a file in "
                        "store.url");
        if (archive_.is_asked()) {
            if (!file_.empty())
                return fail(error_code::invalid_argument,
                            "a backup, or the archive: give FILE, or one of --at, --latest and "
                            "--list");
            return archive_.run(settings, terminal, json_);
        }
        if (file_.empty())
            return fail(error_code::invalid_argument,
                        "say what to restore: a backup, or a moment of the archive with --at or "
                        "--latest");
        const std::string database =
            settings.path_of(inbox_ ? *settings.store.inbox_url : settings.store.url);
        POSTHORN_TRY(standby::require_no_copy(database));
        POSTHORN_TRY(refuse_the_other(settings));
        const bool is_named = settings.origins.contains("service.id");
        POSTHORN_LET(done,
                     sqlite::restore({.backup = file_,
                                      .database = database,
                                      .service = is_named ? settings.service.id : std::string()},
                                     clock_));
        print(done, database, terminal);
        return {};
    }

private:
    /// Where a service has two databases, a backup of one must not take the place of the other:
    /// both are whole and of this service. Their names tell them apart.
    [[nodiscard]] result<> refuse_the_other(const config& settings) const {
        if (!settings.store.inbox_url) return {};
        const auto stem = [&](const database_url& url) {
            return std::filesystem::path(settings.path_of(url)).stem().string();
        };
        const auto mine = stem(inbox_ ? *settings.store.inbox_url : settings.store.url);
        const auto other = stem(inbox_ ? settings.store.url : *settings.store.inbox_url);
        constexpr std::size_t time_characters = sizeof("-20260214T120000Z") - 1;
        const auto name = std::filesystem::path(file_).stem().string();
        if (name.size() <= time_characters || mine == other ||
            name.substr(0, name.size() - time_characters) != other)
            return {};
        return fail(error_code::invalid_argument,
                    "{} is a backup of the service's {}; restore it {} --inbox", file_,
                    inbox_ ? "outbox" : "inbox", inbox_ ? "without" : "with");
    }
    void print(const sqlite::restore_report& done, const std::string& database,
               const console& terminal) const {
        if (json_) {
            print_json(terminal, boost::json::object{{"database", database},
                                                     {"kept", done.kept.string()},
                                                     {"takenAt", to_json(done.taken_at)},
                                                     {"epoch", done.epoch}});
            return;
        }
        terminal.out << fmt::format("restored {}, epoch {}\n", database, done.epoch);
        if (!done.kept.empty())
            terminal.out << fmt::format(
                "{} is kept as {}\n",
                done.replaced_damaged ? "what was there, damaged," : "what was there",
                done.kept.string());
        if (!done.taken_at) return;
        terminal.out << fmt::format(
            "next: on each service that sends to it, run\n"
            "  posthorn outbox replay --since {} --destination {}\n"
            "and only then start this node, so that older messages arrive before newer ones\n",
            to_iso8601(*done.taken_at), done.service.empty() ? "SERVICE" : done.service);
    }

    real_clock clock_;
    std::string file_;
    database_choice where_;
    archive_restore_part archive_;
    bool inbox_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_restore_command() { return std::make_unique<restore_command>(); }

}  // namespace posthorn::cli
