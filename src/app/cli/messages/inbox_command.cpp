#include <array>

#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"

namespace posthorn::cli {
namespace {

/// What lists of what was taken in, and of what was not, are narrowed by.
void declare_narrowing(CLI::App& options, list_choice& wanted) {
    options.add_option("--source", wanted.source, "only those from this service")
        ->type_name("SERVICE");
    options.add_option("--endpoint", wanted.endpoint, "only those for this handler")
        ->type_name("NAME");
    options.add_option("--id", wanted.message_id, "only those with this message id")
        ->type_name("ID");
}

class inbox_list_command final : public look_command {
    void declare_more(CLI::App& options) override {
        declare_narrowing(options, wanted_);
        options.add_option("--state", wanted_.state, "only those in this state")
            ->check(CLI::IsMember({"processed", "at work"}));
        not_empty(
            options.add_option("--since", wanted_.since, "only what took effect then or later"))
            ->type_name("TIME");
        not_empty(options.add_option("--until", wanted_.until, "only what took effect before"))
            ->type_name("TIME");
        declare_list(options, wanted_);
        options.footer("Example: posthorn inbox list --source orders");
    }
    result<boost::json::object> ask(admin_source& from) override {
        return from.inbox_messages(wanted_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return inbox_table_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }

    list_choice wanted_;
};

class inbox_show_command final : public look_command {
    void declare_more(CLI::App& options) override {
        add_place(options, "ID", id_, "the message's id")->required();
        options.add_option("--source", source_, "only the one from this service")
            ->type_name("SERVICE");
        options.add_flag("--payload", payload_, "show what it was answered with, too");
        options.footer(
            "Example: posthorn inbox show 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001\n"
            "What it said is not kept, its effect is. Refusals are known to a running node: add "
            "--url.");
    }
    result<boost::json::object> ask(admin_source& from) override {
        POSTHORN_LET(id, parse_message_id(id_));
        return from.inbox_message(id, source_, payload_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return inbox_message_text(answer, now);
    }

    std::string id_;
    std::string source_;
    bool payload_ = false;
};

class inbox_stats_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer("Example: posthorn inbox stats --config orders.toml");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.inbox_stats(); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time /*now*/) const override {
        return inbox_stats_text(answer);
    }
    [[nodiscard]] bool may_be_watched() const override { return true; }
};

class inbox_failed_command final : public look_command {
    void declare_more(CLI::App& options) override {
        declare_narrowing(options, wanted_);
        options.add_option("--error", wanted_.error, "only where why it was not has this in it")
            ->type_name("TEXT");
        options.footer(
            "Example: posthorn inbox failed --url http://127.0.0.1:7401\n"
            "Only a running node knows, since it stores none of it.");
    }
    result<boost::json::object> ask(admin_source& from) override {
        return from.inbox_failed(wanted_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return failed_table_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }

    list_choice wanted_;
};

class inbox_refused_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer(
            "Example: posthorn inbox refused --url http://127.0.0.1:7401 --key phk_…\n"
            "Only a running node knows, since it stores none of it; the key needs the right to "
            "payloads.");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.inbox_refused(); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return refused_table_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"list", "list messages that were taken in, newest first",
                  make<inbox_list_command>},
    command_entry{"show", "show one message that was taken in", make<inbox_show_command>},
    command_entry{"stats", "count what was taken in", make<inbox_stats_command>},
    command_entry{"failed", "list messages that were not taken in, and why",
                  make<inbox_failed_command>},
    command_entry{"refused", "show what web services said when they did not take a message",
                  make<inbox_refused_command>},
};

}  // namespace

std::unique_ptr<command> make_inbox_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
