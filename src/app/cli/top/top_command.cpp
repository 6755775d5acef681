#include <ostream>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/colour.hpp"
#include "app/cli/kit/interruption.hpp"
#include "app/cli/kit/message_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/cli/kit/watch.hpp"
#include "app/cli/top/raw_terminal.hpp"
#include "app/cli/top/top_state.hpp"

namespace posthorn::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_looks = std::chrono::seconds(1);
constexpr milliseconds patience = std::chrono::seconds(3);  // No key is heeded meanwhile.

/// One `posthorn top`: asks the node and carries out what keys ask for.
///
/// Lifetime: as the command's run; the source outlives it.
class top_session {
public:
    explicit top_session(admin_source& from) : from_(from) {}

    /// An error leaves what was seen before, and says why in the state.
    result<> look() {
        auto seen = ask();
        if (!seen) {
            state_.trouble = to_cell(seen.error().what(), 400);
            return std::unexpected(seen.error());
        }
        update(state_, to_overview(*seen, before_));
        before_ = std::move(seen->samples);
        if (state_.shown == top_state::page::destination) look_at_selected();
        return {};
    }

    /// False if that was the last key.
    bool press(top_key key) {
        const auto wanted = step(state_, key);
        if (wanted == top_action::quit) return false;
        if (wanted == top_action::look) look_at_selected();
        if (wanted == top_action::pause || wanted == top_action::resume ||
            wanted == top_action::try_now) {
            change(wanted);
            auto seen = look();  // So that it is seen at once; of trouble the state tells.
        }
        return true;
    }

    [[nodiscard]] const top_state& state() const noexcept { return state_; }

private:
    result<node_answers> ask() {
        node_answers seen;
        POSTHORN_LET(health, from_.health());
        POSTHORN_LET(stats, from_.outbox_stats());
        POSTHORN_LET(lanes, from_.lanes());
        POSTHORN_LET(queues, from_.ask({.path = "/_rf/queue"}));
        POSTHORN_LET(metrics, from_.metrics());
        seen.health = std::move(health);
        seen.stats = std::move(stats);
        seen.lanes = std::move(lanes);
        seen.queues = std::move(queues);
        seen.samples = parse_samples(metrics, clock_.steady());
        return seen;
    }

    void look_at_selected() {
        const auto now = clock_.wall();
        const auto of_messages = from_.messages({.destination = state_.selected});
        state_.messages = of_messages
                              ? outbox_table_text(*of_messages, now)
                              : fmt::format("{}\n", to_cell(of_messages.error().what(), 400));
        const auto of_dead = from_.dead({.destination = state_.selected});
        state_.dead = of_dead ? dead_table_text(*of_dead, now)
                              : fmt::format("{}\n", to_cell(of_dead.error().what(), 400));
    }

    void change(top_action wanted) {
        const auto& name = state_.selected;
        const auto done =
            wanted == top_action::try_now
                ? from_.try_now(name)
                : from_.pause({.destination = name,
                               .paused = wanted == top_action::pause,
                               .reason = wanted == top_action::pause ? "by posthorn top" : ""});
        if (!done)
            state_.note = to_cell(done.error().what(), 400);
        else if (wanted == top_action::try_now)
            state_.note = fmt::format("{} is tried now", name);
        else
            state_.note =
                fmt::format("{} {}", name, wanted == top_action::pause ? "is paused" : "goes on");
    }

    admin_source& from_;
    real_clock clock_;
    top_state state_;
    node_samples before_;
};

std::string joined(const std::vector<std::string>& rows) {
    std::string text;
    for (const auto& each : rows) text += each + '\n';
    return text;
}

class top_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("-c,--config", config_file_, "the node's configuration")
            ->type_name("FILE");
        options.add_option("--url", node_.url, "its admin address, if not as configured")
            ->type_name("URL");
        options.add_option("--key", node_.key, "its admin key (the variable POSTHORN_ADMIN_KEY)")
            ->type_name("KEY");
        options.add_option("--color", how_.colour, "states in colour: auto, always or never")
            ->check(CLI::IsMember({"auto", "always", "never"}))
            ->type_name("WHEN");
        options.footer(
            "Example: posthorn top --url http://127.0.0.1:7401\n"
            "Looks once a second. Press ? for the keys; p, r and t need an operator's key. Without "
            "a\nterminal it prints one look and ends.");
    }

    result<> run(const console& terminal) override {
        interruption ends;  // First of all: threads that are made later inherit it.
        POSTHORN_LET(address, where());
        const auto source = make_node_source(std::move(address));
        top_session session(*source);
        POSTHORN_TRY(session.look());
        if (terminal.columns == 0 || !raw_terminal::is_there()) return print(session, terminal);
        live(session, terminal, ends);
        return {};
    }

private:
    [[nodiscard]] result<node_address> where() const {
        auto address = node_;
        address.patience = patience;
        take_kept_key(address);
        if (!address.url.empty()) return address;
        if (config_file_or_default(config_file_).empty())
            return fail(error_code::invalid_argument,
                        "say which node: --url URL, or --config FILE of a node on this machine");
        POSTHORN_LET(settings, database_choice{.config_file = config_file_}.settings());
        if (!settings.listen.admin)
            return fail(error_code::invalid_argument,
                        "this node has no admin listener (listen.admin); name one with --url");
        auto host = settings.listen.admin->host;
        if (host == "0.0.0.0") host = "127.0.0.1";
        if (host == "::") host = "::1";
        if (host.contains(':')) host = fmt::format("[{}]", host);
        address.url = fmt::format("http://{}:{}", host, settings.listen.admin->port);
        return address;
    }

    [[nodiscard]] std::string painted(const std::string& text, const console& terminal) const {
        return how_.is_painted(terminal) ? paint_states(text) : text;
    }

    /// All of it, however long; without the keys at the foot.
    result<> print(const top_session& session, const console& terminal) const {
        const auto& state = session.state();
        constexpr std::size_t any_rows = 10'000;
        auto rows = draw(state, {.columns = 1000, .rows = any_rows});
        rows.pop_back();
        while (!rows.empty() && rows.back().empty()) rows.pop_back();
        terminal.out << painted(joined(rows), terminal);
        terminal.err << "posthorn: this is one look, since there is no terminal to watch it on\n";
        return {};
    }

    void live(top_session& session, const console& terminal, interruption& ends) const {
        using event = interruption::event;
        raw_terminal screen;
        const real_clock clock;
        auto next = clock.steady() + between_looks;
        while (true) {
            screen.write(
                to_frame(painted(joined(draw(session.state(), terminal_size())), terminal)));
            const auto left = std::chrono::ceil<milliseconds>(next - clock.steady());
            const auto seen = ends.wait({.at_most = std::max(left, milliseconds(0)), .keys = true});
            if (seen == event::end) return;
            if (seen == event::key) {
                const auto bytes = screen.read();
                if (bytes.empty()) return;
                for (const auto key : keys_in(bytes))
                    if (!session.press(key)) return;
            } else if (seen == event::time) {
                auto looked = session.look();  // Of trouble the state tells.
                next = clock.steady() + between_looks;
            }
        }
    }

    std::string config_file_;
    node_address node_;
    show_choice how_;
};

}  // namespace

std::unique_ptr<command> make_top_command() { return std::make_unique<top_command>(); }

}  // namespace posthorn::cli
