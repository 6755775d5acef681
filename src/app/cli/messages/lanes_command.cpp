#include "app/cli/messages/lanes_command.hpp"

#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"

namespace posthorn::cli {
namespace {

class lanes_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer(
            "Without --url only pauses and what waits are known; what lanes do, the node knows.\n"
            "Example: posthorn outbox lanes --url http://127.0.0.1:7401");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.lanes(); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return lanes_text(answer, now);
    }
    [[nodiscard]] std::string_view unknown_to_a_file() const override {
        return "the database knows what waits and what is paused, not what the lanes do";
    }
    [[nodiscard]] bool is_table() const override { return true; }
};

class pause_command final : public look_command {
public:
    explicit pause_command(bool paused) { wanted_.paused = paused; }

private:
    void declare_more(CLI::App& options) override {
        add_place(options, "DESTINATION", wanted_.destination, "the service that messages are for")
            ->required();
        if (wanted_.paused) {
            options.add_option("--reason", wanted_.reason, "why, for those who look")
                ->type_name("TEXT");
            options.footer("Example: posthorn outbox pause stock --reason \"stocktaking\"");
        } else {
            options.footer("Example: posthorn outbox resume stock");
        }
    }
    result<boost::json::object> ask(admin_source& from) override { return from.pause(wanted_); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time /*now*/) const override {
        const auto* changed = answer.if_contains("changed");
        const bool was_so = changed != nullptr && changed->is_bool() && !changed->as_bool();
        if (wanted_.paused)
            return fmt::format("{} {}\n", wanted_.destination,
                               was_so ? "was paused already" : "is paused");
        return fmt::format("{} {}\n", wanted_.destination, was_so ? "was not paused" : "goes on");
    }

    pause_choice wanted_;
};

class try_command final : public look_command {
    void declare_more(CLI::App& options) override {
        add_place(options, "DESTINATION", destination_, "the service that messages are for")
            ->required();
        options.footer(
            "For a destination that was down and is back: what waits need not wait for the next\n"
            "probe. 'posthorn outbox lanes' shows what came of it.\n"
            "Example: posthorn outbox try stock --url http://127.0.0.1:7401");
    }
    result<boost::json::object> ask(admin_source& from) override {
        return from.try_now(destination_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& /*answer*/,
                                      wall_time /*now*/) const override {
        return fmt::format("{} is tried now\n", destination_);
    }

    std::string destination_;
};

}  // namespace

std::unique_ptr<command> make_try_command() { return std::make_unique<try_command>(); }
std::unique_ptr<command> make_lanes_command() { return std::make_unique<lanes_command>(); }
std::unique_ptr<command> make_pause_command() { return std::make_unique<pause_command>(true); }
std::unique_ptr<command> make_resume_command() { return std::make_unique<pause_command>(false); }

}  // namespace posthorn::cli
