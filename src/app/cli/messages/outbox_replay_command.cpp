#include <chrono>
#include <ostream>

#include <boost/json/object.hpp>
#include <unistd.h>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "base/text/counted.hpp"
#include "base/time/time_range.hpp"
#include "store/sqlite/tables/outbox_replay.hpp"

namespace posthorn::cli {
namespace {

constexpr std::size_t slice_rows = 500;

/// `2026-02-14T12:00:00Z`, or `2h`: so long ago.
result<wall_time> parse_past(std::string_view option, std::string_view text, wall_time now) {
    if (const auto time = parse_iso8601(text)) return *time;
    if (const auto ago = parse_duration(text)) return now - *ago;
    return fail(error_code::invalid_argument,
                "{} takes a time such as 2026-02-14T12:00:00Z, or how long ago, such as 2h, not "
                "'{}'",
                option, text);
}

class outbox_replay_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("--since", since_,
                        "what was acknowledged then or later: the time of the receiver's backup")
            ->type_name("TIME")
            ->required();
        not_empty(options.add_option("--until", until_, "and before this (now)"))
            ->type_name("TIME");
        options.add_option("--destination", destination_, "only those for this service")
            ->type_name("SERVICE");
        options.add_flag("--dry-run", dry_run_, "count them and change nothing");
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn outbox replay --since 2026-02-14T12:00:00Z --destination stock\n"
            "Sends delivered messages again under their ids: what the receiver remembers has no "
            "second\neffect. Exits with 1 if some are past their time and cannot be sent again.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        POSTHORN_LET(database, database_session::open(settings));
        const auto now = database->clock().wall();
        POSTHORN_LET(range, range_at(now));
        POSTHORN_LET(done, replay(*database, range, now, terminal));
        print(done, terminal);
        if (done.expired == 0) return {};
        return fail(error_code::message_expired,
                    "{} past their time, so that the receiver would refuse them; they stay as they "
                    "are. Send what is in them anew, if it is still wanted",
                    counted(done.expired, "message is", "messages are"));
    }

private:
    [[nodiscard]] result<sqlite::replay_range> range_at(wall_time now) const {
        POSTHORN_LET(since, parse_past("--since", since_, now));
        POSTHORN_LET(until, until_.empty() ? now : parse_past("--until", until_, now));
        POSTHORN_TRY(check_times({.since = since, .until = until}, now));
        return sqlite::replay_range{
            .since = since, .until = until, .destination = destination_, .count_only = dry_run_};
    }

    [[nodiscard]] result<sqlite::replay_progress> replay(database_session& database,
                                                         const sqlite::replay_range& range,
                                                         wall_time now,
                                                         const console& terminal) const {
        const bool is_drawn = !json_ && ::isatty(STDERR_FILENO) == 1;
        sqlite::replay_progress all;
        while (!all.is_done) {
            sqlite::replay_progress after;
            POSTHORN_TRY(database.commit([&](store_transaction& tx) -> result<> {
                auto slice = sqlite::replay_sent(tx, range, now, all, slice_rows);
                POSTHORN_TRY(slice);
                after = *slice;
                return {};
            }));
            all = after;
            if (is_drawn) terminal.err << '\r' << counted(all.replayed, "message") << std::flush;
        }
        if (is_drawn) terminal.err << "\r\033[K";
        return all;
    }

    void print(const sqlite::replay_progress& done, const console& terminal) const {
        if (json_) {
            print_json(terminal, boost::json::object{{"replayed", done.replayed},
                                                     {"expired", done.expired},
                                                     {"dryRun", dry_run_}});
            return;
        }
        terminal.out << (dry_run_ ? counted(done.replayed, "message would be sent again",
                                            "messages would be sent again")
                                  : counted(done.replayed, "message is pending again",
                                            "messages are pending again"))
                     << '\n';
    }

    std::string since_;
    std::string until_;
    std::string destination_;
    bool dry_run_ = false;
    bool json_ = false;
    database_choice where_;
};

}  // namespace

std::unique_ptr<command> make_outbox_replay_command() {
    return std::make_unique<outbox_replay_command>();
}

}  // namespace posthorn::cli
