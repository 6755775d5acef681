#include "app/cli/kit/look_command.hpp"

#include <ostream>

#include <boost/json/serialize.hpp>

#include "app/cli/kit/colour.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"

namespace posthorn::cli {
namespace {

class message_show_command final : public look_command {
    void declare_more(CLI::App& options) override {
        add_place(options, "ID", id_, "the message's id")->required();
        options.add_flag("--payload", payload_, "show what it says, too");
        options.footer("Example: posthorn outbox show 0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");
    }
    result<boost::json::object> ask(admin_source& from) override {
        POSTHORN_LET(id, parse_message_id(id_));
        return from.message(id, payload_);
    }
    [[nodiscard]] std::string to_text(const boost::json::object& answer,
                                      wall_time now) const override {
        return message_text(answer, now);
    }

    std::string id_;
    bool payload_ = false;
};

}  // namespace

void look_command::declare(CLI::App& options) {
    declare_more(options);
    where_.declare(options);
    how_.declare(options,
                 may_be_watched() ? show_choice::kind::may_be_watched : show_choice::kind::once);
}

result<> look_command::run(const console& terminal) {
    watcher eyes(terminal, how_);
    POSTHORN_LET(from, where_.open());
    const auto unknown = unknown_to_a_file();
    if (where_.node.url.empty() && !unknown.empty() && !how_.json)
        terminal.err << fmt::format("posthorn: {}; ask the node with --url\n", unknown);
    if (how_.is_watched())
        return eyes.run([&](std::size_t columns) -> result<std::string> {
            POSTHORN_LET(answer, ask(*from));
            return shown(answer, columns);
        });
    POSTHORN_LET(answer, ask(*from));
    const auto text = shown(answer, terminal.columns);
    terminal.out << (how_.is_painted(terminal) ? paint_states(text) : text);
    return judge(answer);
}

std::string look_command::shown(const boost::json::object& answer, std::size_t columns) const {
    if (how_.json) return boost::json::serialize(answer) + '\n';
    const auto text = to_text(answer, real_clock().wall());
    return is_table() ? fit_table(text, columns) : text;
}

void declare_list(CLI::App& options, list_choice& wanted) {
    options.add_option("--limit", wanted.limit, "how many at most")
        ->capture_default_str()
        ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
        ->type_name("NUMBER");
    options.add_option("--before", wanted.before, "go on where a page ended")->type_name("NUMBER");
}

result<uuid> parse_message_id(std::string_view text) {
    if (const auto id = uuid::parse(text)) return *id;
    return fail(error_code::invalid_argument,
                "'{}' is not a message id, which is a UUID; 'posthorn outbox list' shows them. One "
                "that was "
                "stored with such an id is dead, and found by 'posthorn dead list' and --cause",
                text);
}

std::unique_ptr<command> make_message_show_command() {
    return std::make_unique<message_show_command>();
}

}  // namespace posthorn::cli
