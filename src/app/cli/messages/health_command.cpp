#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"

namespace posthorn::cli {
namespace {

class health_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer(
            "Example: posthorn health --url http://127.0.0.1:7401\n"
            "Exits with 1 if it is red. On a file it tells of its messages, not of a node.");
    }
    result<boost::json::object> ask(admin_source& from) override { return from.health(); }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time /*now*/) const override {
        return health_text(answer);
    }
    [[nodiscard]] std::string_view unknown_to_a_file() const override {
        return "this is what the messages in the database say, not whether a node runs and works";
    }
    [[nodiscard]] bool may_be_watched() const override { return true; }
    [[nodiscard]] result<> judge(const boost::json::object& answer) const override {
        const auto* status = answer.if_contains("status");
        if (status != nullptr && *status == "red")
            return fail(error_code::store_failed, "health is red; a person must look");
        return {};
    }
};

}  // namespace

std::unique_ptr<command> make_health_command() { return std::make_unique<health_command>(); }

}  // namespace posthorn::cli
