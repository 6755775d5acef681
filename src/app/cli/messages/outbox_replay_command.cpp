#include <chrono>
#include <ostream>

#include <boost/json/object.hpp>
#include <unistd.h>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "base/text/counted.hpp"
#include "base/time/clock.hpp"

namespace posthorn::cli {
namespace {

/// `2026-02-14T12:00:00Z`, or `2h`: so long ago.
result<wall_time> parse_past(std::string_view option, std::string_view text, wall_time now) {
    if (const auto time = parse_iso8601(text)) return *time;
    if (const auto ago = parse_duration(text)) return now - *ago;
    return fail(error_code::invalid_argument,
                "{} takes a time such as 2026-02-14T12:00:00Z, or how long ago, such as 2h, not "
                "'{}'",
                option, text);
}

std::int64_t number(const boost::json::object& from, std::string_view name) {
    const auto* const value = from.if_contains(name);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

std::string text(const boost::json::object& from, std::string_view name) {
    const auto* const value = from.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
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
        not_empty(
            options.add_option("--destination", wanted_.destination, "only those for this service"))
            ->type_name("SERVICE");
        options.add_flag("--dry-run", wanted_.count_only, "count them and change nothing");
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn outbox replay --since 2026-02-14T12:00:00Z --destination stock\n"
            "Sends delivered messages again under their ids: what the receiver remembers has no "
            "second\neffect. Exits with 1 if some are past their time and cannot be sent again.");
    }

    result<> run(const console& terminal) override {
        const auto now = real_clock{}.wall();
        POSTHORN_LET(since, parse_past("--since", since_, now));
        wanted_.since = to_iso8601(since);
        if (!until_.empty()) {
            POSTHORN_LET(until, parse_past("--until", until_, now));
            wanted_.until = to_iso8601(until);
        }
        POSTHORN_LET(from, where_.open());
        POSTHORN_LET(done, replay(*from, terminal));
        print(done, terminal);
        if (done.expired == 0) return {};
        return fail(error_code::message_expired,
                    "{} past their time, so that the receiver would refuse them; they stay as they "
                    "are. Send what is in them anew, if it is still wanted",
                    counted(done.expired, "message is", "messages are"));
    }

private:
    struct progress {
        std::int64_t replayed = 0;
        std::int64_t expired = 0;
    };

    // The first answer says until when, and the others go by that: what was sent again meanwhile is
    // acknowledged anew, and would be met once more.
    result<progress> replay(admin_source& from, const console& terminal) {
        const bool is_drawn = !json_ && ::isatty(STDERR_FILENO) == 1;
        progress all;
        do {
            POSTHORN_LET(slice, from.replay(wanted_));
            all.replayed += number(slice, "replayed");
            all.expired += number(slice, "expired");
            wanted_.until = text(slice, "until");
            wanted_.after = text(slice, "next");
            if (is_drawn) terminal.err << '\r' << counted(all.replayed, "message") << std::flush;
        } while (!wanted_.after.empty());
        if (is_drawn) terminal.err << "\r\033[K";
        return all;
    }

    void print(const progress& done, const console& terminal) const {
        if (json_) {
            print_json(terminal, boost::json::object{{"replayed", done.replayed},
                                                     {"expired", done.expired},
                                                     {"dryRun", wanted_.count_only}});
            return;
        }
        terminal.out << (wanted_.count_only ? counted(done.replayed, "message would be sent again",
                                                      "messages would be sent again")
                                            : counted(done.replayed, "message is pending again",
                                                      "messages are pending again"))
                     << '\n';
    }

    std::string since_;
    std::string until_;
    replay_choice wanted_;
    bool json_ = false;
    source_choice where_;
};

}  // namespace

std::unique_ptr<command> make_outbox_replay_command() {
    return std::make_unique<outbox_replay_command>();
}

}  // namespace posthorn::cli
