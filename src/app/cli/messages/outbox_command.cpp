#include <array>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/messages/lanes_command.hpp"

namespace posthorn::cli {
namespace {

class outbox_list_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.add_option("--status", wanted_.status, "only those in this state")
            ->check(CLI::IsMember({"Pending", "Sent", "Dead", "Expired", "Resolved"},
                                  CLI::ignore_case));
        options.add_option("--destination", wanted_.destination, "only those for this service")
            ->type_name("SERVICE");
        options.add_option("--endpoint", wanted_.endpoint, "only those for this handler")
            ->type_name("NAME");
        options.add_option("--correlation-id", wanted_.correlation_id, "only those with this one")
            ->type_name("ID");
        options
            .add_option("--causation-id", wanted_.causation_id,
                        "only those that the handling of this message sent")
            ->type_name("ID");
        options.add_option("--error", wanted_.error, "only those whose last error has this in it")
            ->type_name("TEXT");
        options.add_option("--tenant", wanted_.tenant, "only those of this tenant")
            ->type_name("NAME");
        options.add_option("--order-key", wanted_.order_key, "only those with this order key")
            ->type_name("KEY");
        not_empty(options.add_option("--since", wanted_.since, "only those made then or later"))
            ->type_name("TIME");
        not_empty(options.add_option("--until", wanted_.until, "only those made before"))
            ->type_name("TIME");
        declare_list(options, wanted_);
        options.footer("Example: posthorn outbox list --status Pending --destination stock");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.messages(wanted_); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return outbox_table_text(answer, now);
    }
    [[nodiscard]] bool is_table() const override { return true; }

    list_choice wanted_;
};

class outbox_stats_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer("Example: posthorn outbox stats --url http://127.0.0.1:7401");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.outbox_stats(); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return outbox_stats_text(answer, now);
    }
    [[nodiscard]] bool may_be_watched() const override { return true; }
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"list", "list messages, newest first", make<outbox_list_command>},
    command_entry{"show", "show one message and its attempts", make_message_show_command},
    command_entry{"stats", "count messages, and tell what waits for whom",
                  make<outbox_stats_command>},
    command_entry{"lanes", "tell how each destination's lane is", make_lanes_command},
    command_entry{"pause", "send nothing to a destination for now", make_pause_command},
    command_entry{"resume", "let messages go to a paused destination", make_resume_command},
    command_entry{"try", "try a destination at once that did not answer", make_try_command},
    command_entry{"replay", "send delivered messages again to a receiver that was restored",
                  make_outbox_replay_command},
};

}  // namespace

std::unique_ptr<command> make_outbox_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
