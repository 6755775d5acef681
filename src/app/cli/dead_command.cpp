#include <array>
#include <ostream>

#include <boost/json/array.hpp>

#include "app/cli/json_output.hpp"
#include "app/cli/look_command.hpp"
#include "app/cli/message_output.hpp"
#include "app/cli/options.hpp"

namespace posthorn::cli {
namespace {

class dead_list_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.add_option("--destination", wanted_.destination, "only those for this service")
            ->type_name("SERVICE");
        options.add_option("--endpoint", wanted_.endpoint, "only those for this handler")
            ->type_name("NAME");
        declare_list(options, wanted_);
        options.footer("Example: posthorn dead list --destination stock");
    }
    result<boost::json::object> ask(admin_source& from) override {
        wanted_.status = "Dead";
        return from.messages(wanted_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return outbox_table_text(answer, now);
    }

    list_choice wanted_;
};

class dead_requeue_command final : public command {
public:
    void declare(CLI::App& options) override {
        add_place(options, "IDS", ids_, "the messages' ids")->required();
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer("Example: posthorn dead requeue 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");
    }

    result<> run(const console& terminal) override {
        std::vector<uuid> ids;
        for (const auto& text : ids_) {
            const auto id = parse_message_id(text);
            if (!id) return std::unexpected(id.error());
            ids.push_back(*id);
        }
        auto to = where_.open();
        if (!to) return std::unexpected(std::move(to).error());
        boost::json::array done;
        result<> first_failure;
        for (const auto& id : ids) {  // One that fails keeps none of the others from it.
            auto answer = (*to)->requeue(id);
            if (answer)
                done.push_back(*std::move(answer));
            else if (first_failure)
                first_failure = std::unexpected(std::move(answer).error());
        }
        print(done, terminal);
        return first_failure;
    }

private:
    void print(const boost::json::array& done, const console& terminal) const {
        if (json_) {
            print_json(terminal, done);
            return;
        }
        for (const auto& each : done)
            terminal.out << std::string_view(each.at("messageId").as_string()) << " is pending\n";
    }

    std::vector<std::string> ids_;
    source_choice where_;
    bool json_ = false;
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"list", "list messages that were given up, newest first",
                  make<dead_list_command>},
    command_entry{"show", "show one message and its attempts", make_message_show_command},
    command_entry{"requeue", "let dead messages be sent again", make<dead_requeue_command>},
};

}  // namespace

std::unique_ptr<command> make_dead_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
