#include "app/cli/messages/dead_command.hpp"

#include <array>

#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

class dead_list_command final : public look_command {
    void declare_more(CLI::App& options) override {
        declare_dead_choice(options, wanted_);
        options.add_option("--limit", wanted_.limit, "how many at most")
            ->capture_default_str()
            ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
            ->type_name("NUMBER");
        options.add_option("--before", wanted_.before, "go on where a page ended")
            ->type_name("NUMBER");
        options.footer("Example: posthorn dead list --destination stock --error 'timed out'");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.dead(wanted_); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return dead_table_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }

    dead_choice wanted_;
};

class dead_groups_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.add_option("--destination", wanted_.destination, "only those for this service")
            ->type_name("SERVICE");
        options.add_option("--limit", wanted_.limit, "how many at most")
            ->capture_default_str()
            ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
            ->type_name("NUMBER");
        options.footer(
            "Example: posthorn dead groups\n"
            "Then: posthorn dead requeue --cause NUMBER, once the cause is mended.");
    }
    result<boost::json::object> ask(admin_source& from) override {
        return from.dead_groups(wanted_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return dead_groups_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }

    dead_choice wanted_;
};

class dead_show_command final : public look_command {
    void declare_more(CLI::App& options) override {
        add_place(options, "ID", id_, "the message's id")->required();
        options.add_flag("--payload", payload_, "show what it says, too");
        options.footer("Example: posthorn dead show 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");
    }
    result<boost::json::object> ask(admin_source& from) override {
        POSTHORN_LET(id, parse_message_id(id_));
        return from.dead_message(id, payload_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return message_text(answer, now);
    }

    std::string id_;
    bool payload_ = false;
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"list", "list messages that were given up, newest first",
                  make<dead_list_command>},
    command_entry{"groups", "count them by what they died of", make<dead_groups_command>},
    command_entry{"show", "show one message and its attempts", make<dead_show_command>},
    command_entry{"edit", "change what a message says or where it goes", make_dead_edit_command},
    command_entry{"requeue", "let messages be sent again", make_dead_requeue_command},
    command_entry{"resolve", "close messages with a reason", make_dead_resolve_command},
    command_entry{"reopen", "take back that messages were resolved", make_dead_reopen_command},
    command_entry{"delete", "delete messages for good", make_dead_delete_command},
};

}  // namespace

void declare_expires_in(CLI::App& options, std::string& text) {
    options
        .add_option("--expires-in", text,
                    "with --new-id: how long it may take to arrive from now on (as long as it had)")
        ->type_name("DURATION");
}

result<> add_expires_in(const std::string& text, boost::json::object& body) {
    if (text.empty()) return {};
    const auto time = parse_duration(text);
    if (!time || *time < std::chrono::seconds{1})
        return fail(error_code::invalid_argument,
                    "--expires-in cannot be '{}'; write a duration of a second or more, such as "
                    "30m, 1h or 7d",
                    text);
    body["expiresInMs"] = time->count();
    return {};
}

void declare_dead_choice(CLI::App& options, dead_choice& wanted) {
    options.add_option("--status", wanted.status, "Dead unless given")
        ->transform(CLI::IsMember({"Dead", "Expired", "Resolved"}, CLI::ignore_case));
    options.add_option("--destination", wanted.destination, "only those for this service")
        ->type_name("SERVICE");
    options.add_option("--endpoint", wanted.endpoint, "only those for this handler")
        ->type_name("NAME");
    options.add_option("--cause", wanted.cause, "only those of this group; see dead groups")
        ->check(CLI::PositiveNumber)
        ->type_name("NUMBER");
    options.add_option("--error", wanted.error, "only those whose last error has this in it")
        ->type_name("TEXT");
    not_empty(options.add_option("--since", wanted.since, "only those given up then or later"))
        ->type_name("TIME");
    not_empty(options.add_option("--until", wanted.until, "only those given up before"))
        ->type_name("TIME");
    options.add_option("--correlation-id", wanted.correlation_id, "only those with this one")
        ->type_name("ID");
    options
        .add_option("--causation-id", wanted.causation_id,
                    "only those that the handling of this message sent")
        ->type_name("ID");
    options.add_option("--tenant", wanted.tenant, "only those of this tenant")->type_name("TEXT");
    options.add_option("--order-key", wanted.order_key, "only those of this order key")
        ->type_name("TEXT");
}

std::unique_ptr<command> make_dead_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
