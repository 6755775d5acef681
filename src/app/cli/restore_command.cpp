#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/command.hpp"
#include "app/cli/database.hpp"
#include "app/cli/json_output.hpp"
#include "app/cli/options.hpp"
#include "store/sqlite/restore.hpp"

namespace posthorn::cli {
namespace {

class restore_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "FILE", file_, "the backup")->required();
        where_.declare(options);
        options.add_flag("--inbox", inbox_, "in place of store.inbox_url, where there is one");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn restore backups/orders-20260214T120000Z.db --config orders.toml\n"
            "Stop the node and everything else that uses the database first. What is there is "
            "kept\naside. Then let the senders replay: see docs/operating/backup.md.");
    }

    result<> run(const console& terminal) override {
        const auto settings = where_.settings();
        if (!settings) return std::unexpected(settings.error());
        if (inbox_ && !settings->store.inbox_url)
            return fail(error_code::invalid_argument,
                        "--inbox is for a store.inbox_url, and there is none");
        if (settings->store.url.in_memory)
            return fail(error_code::invalid_argument,
                        "a store in memory ends with its node, and has no backups; name a file in "
                        "store.url");
        const std::string database =
            settings->path_of(inbox_ ? *settings->store.inbox_url : settings->store.url);
        const bool is_named = settings->origins.contains("service.id");
        const auto done =
            sqlite::restore({.backup = file_,
                             .database = database,
                             .service = is_named ? settings->service.id : std::string()},
                            clock_);
        if (!done) return std::unexpected(done.error());
        print(*done, database, terminal);
        return {};
    }

private:
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
            "next: start the node, and on each service that sends to it, run\n"
            "  posthorn outbox replay --since {} --destination SERVICE\n",
            to_iso8601(*done.taken_at));
    }

    real_clock clock_;
    std::string file_;
    database_choice where_;
    bool inbox_ = false;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<command> make_restore_command() { return std::make_unique<restore_command>(); }

}  // namespace posthorn::cli
