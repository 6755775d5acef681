#include "app/cli/kit/feature_output.hpp"
#include "app/cli/kit/look_command.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/features.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;

/// What a feature shows here: the name of its part, and the command that asks for it.
struct feature_part {
    std::string_view name;
    const feature_command* asked;
};

std::vector<feature_part> feature_parts_of_stats() {
    std::vector<feature_part> all;
    for (const auto* const each : all_features())
        for (const auto& one : each->commands())
            if (one.in_stats) all.push_back({each->name(), &one});
    return all;
}

class stats_command final : public look_command {
    void declare_more(CLI::App& options) override {
        options.footer("Example: posthorn stats --json");
    }
    result<json::object> ask(admin_source& from) override {
        POSTHORN_LET(outbox, from.outbox_stats());
        POSTHORN_LET(inbox, from.inbox_stats());
        json::object all{{"outbox", std::move(outbox)}, {"inbox", std::move(inbox)}};
        for (const auto& [name, asked] : feature_parts_of_stats()) {
            auto part =
                from.ask({.method = std::string(asked->method), .path = std::string(asked->path)});
            if (part)
                all[name] = *std::move(part);
            else if (part.error().code() != error_code::not_found)  // As of an older node.
                return std::unexpected(part.error());
        }
        return all;
    }
    [[nodiscard]] std::string to_text(const json::object& answer, wall_time now) const override {
        auto text = "outbox\n" + outbox_stats_text(answer.at("outbox").as_object(), now) +
                    "\ninbox\n" + inbox_stats_text(answer.at("inbox").as_object());
        for (const auto& [name, asked] : feature_parts_of_stats()) {
            const auto* const part = answer.if_contains(name);
            const auto* const fields = part ? part->if_object() : nullptr;
            const auto* const list = fields ? fields->if_contains(asked->list) : nullptr;
            if (list == nullptr || !list->is_array() || list->as_array().empty()) continue;
            text += fmt::format("\n{}\n{}", name, feature_text(*asked, *fields));
        }
        return text;
    }
    [[nodiscard]] bool may_be_watched() const override { return true; }
};

}  // namespace

std::unique_ptr<command> make_stats_command() { return std::make_unique<stats_command>(); }

}  // namespace posthorn::cli
