#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"

namespace posthorn::cli {
namespace {

class stats_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer("Example: posthorn stats --json");
    }
    result<boost::json::object> ask(admin_source& from) override {
        POSTHORN_LET(outbox, from.outbox_stats());
        POSTHORN_LET(inbox, from.inbox_stats());
        return boost::json::object{{"outbox", std::move(outbox)}, {"inbox", std::move(inbox)}};
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return "outbox\n" + outbox_stats_text(answer.at("outbox").as_object(), now) + "\ninbox\n" +
               inbox_stats_text(answer.at("inbox").as_object());
    }
};

}  // namespace

std::unique_ptr<command> make_stats_command() { return std::make_unique<stats_command>(); }

}  // namespace posthorn::cli
