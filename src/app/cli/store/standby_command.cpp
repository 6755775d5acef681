#include <array>
#include <chrono>
#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/node/follow.hpp"
#include "app/node/pair.hpp"
#include "base/async/executor.hpp"
#include "base/time/clock.hpp"
#include "standby/following.hpp"
#include "standby/promotion.hpp"
#include "standby/rejoin.hpp"

namespace posthorn::cli {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

/// The file of the database, as the configuration or the command line names it.
result<fs::path> file_of(const config& settings) {
    const auto& url = settings.store.url;
    if (url.on_server || url.in_memory)
        return fail(error_code::invalid_argument,
                    "only a database in a file has a standby of this kind; on PostgreSQL see "
                    "docs/operating/scale-out.md");
    return fs::path(settings.path_of(url));
}

class standby_follow_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_,
                        "the configuration (posthorn.toml, if it is here; else the defaults)")
            ->type_name("FILE");
        options.footer(
            "Example: posthorn standby follow --config orders.toml\n"
            "It keeps the copy in store.url, listens where standby.listen says, and tells how it "
            "is on\nlisten.admin. With standby.to too it serves once the primary gives it its "
            "role. "
            "SIGINT and\nSIGTERM stop it cleanly.");
    }

    result<> run(const console& terminal) override {
        file_ = config_file_or_default(std::move(file_));
        POSTHORN_LET(settings, file_.empty() ? result<config>(config{}) : load_config(file_));
        const auto announce = [&](const std::string& line) {
            terminal.out << line << '\n' << std::flush;
        };
        if (may_change_role(settings)) {
            serve_options options;
            options.announce = announce;
            options.read_again = [this, settings] {
                return file_.empty() ? result<config>(settings) : load_config(file_);
            };
            return serve_as_one_of_a_pair(settings, options, first_role::standby);
        }
        POSTHORN_TRY(follow(settings, {.announce = announce}));
        return {};
    }

private:
    std::string file_;
};

class standby_status_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn standby status --url http://127.0.0.1:7401\n"
            "With --url it asks the primary's node or 'posthorn standby follow', which know the "
            "lag;\notherwise it reads what lies beside the database.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(told, where_.node.url.empty() ? of_file() : of_process());
        if (json_) {
            print_json(terminal, told);
            return {};
        }
        constexpr std::array<std::pair<std::string_view, std::string_view>, 19> lines{{
            {"role", "role"},
            {"standby", "standby"},
            {"state", "state"},
            {"phase", "copy"},
            {"mode", "mode"},
            {"whenLost", "when lost"},
            {"alone", "alone"},
            {"hasPrimary", "has primary"},
            {"silentSeconds", "silent for s"},
            {"service", "service"},
            {"epoch", "epoch"},
            {"position", "position"},
            {"lagBytes", "lag bytes"},
            {"lagSeconds", "lag s"},
            {"lostByPromotion", "a promotion now would lose"},
            {"noSwitch", "a switch now would fail"},
            {"switchTrouble", "the last switch failed"},
            {"began", "its history began"},
            {"trouble", "trouble"},
        }};
        for (const auto& [field, name] : lines) {
            const auto* const value = told.if_contains(field);
            if (value == nullptr || (value->is_string() && value->as_string().empty())) continue;
            terminal.out << fmt::format(
                "{:<27} {}\n", name,
                value->is_string() ? std::string(value->as_string()) : json::serialize(*value));
        }
        return {};
    }

private:
    [[nodiscard]] result<json::object> of_file() const {
        POSTHORN_LET(settings, where_.file.settings());
        POSTHORN_LET(file, file_of(settings));
        POSTHORN_LET(state, standby::load_state(file));
        if (!state) return json::object{{"role", "none"}};
        return to_json(*state);
    }
    [[nodiscard]] result<json::object> of_process() const {
        POSTHORN_LET(source, where_.open());
        return source->ask({.path = "/_rf/standby"});
    }

    source_choice where_;
    bool json_ = false;
};

class standby_promote_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options.add_flag("--yes", yes_, "do it; otherwise it is only told what would be lost");
        options.add_flag("--accept-loss", accept_loss_,
                         "where the primary may have answered more than the copy has");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn standby promote --config orders.toml --yes\n"
            "Stop 'posthorn standby follow' first, and see to it that the primary does not run. "
            "Then\n'posthorn serve' goes on with the copy. See docs/operating/standby.md.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        POSTHORN_LET(file, file_of(settings));
        POSTHORN_LET(before, standby::load_state(file));
        if (!before)
            return fail(error_code::invalid_argument,
                        "{} is not a standby's copy; there is nothing to promote", file.string());
        const auto loss = standby::loss_of(*before);
        if (!yes_)
            return fail(error_code::invalid_argument,
                        "{} would lose {}; see to it that its primary does not run, and add --yes",
                        file.string(), loss);
        POSTHORN_LET(after, standby::promote({.database = file, .accept_loss = accept_loss_}));
        if (json_)
            print_json(
                terminal,
                json::object{{"database", file.string()}, {"epoch", after.epoch}, {"lost", loss}});
        else
            terminal.out << fmt::format(
                "promoted {}, epoch {}; lost: {}\n"
                "next: posthorn serve; and before the old primary is used again, on its machine:\n"
                "  posthorn standby rejoin\n",
                file.string(), after.epoch, loss);
        return {};
    }

private:
    database_choice where_;
    bool yes_ = false;
    bool accept_loss_ = false;
    bool json_ = false;
};

/// Asks a node until its answer is what is waited for.
class role_watch {
public:
    explicit role_watch(admin_source& node) : node_(node) {}

    /// The first answer that `is_it`; `error_code::timed_out` if none was in time.
    template <class Asked>
    result<json::object> wait(const Asked& is_it) {
        constexpr std::chrono::seconds patience{30};
        constexpr std::chrono::milliseconds often{20};
        const auto until = clock_.steady() + patience;
        while (clock_.steady() < until) {
            // It does not answer while it changes its role.
            if (auto told = node_.ask({.path = "/_rf/standby"}); told && is_it(*told))
                return *std::move(told);
            pace_.rest(often);
        }
        return fail(error_code::timed_out,
                    "{} has not come to follow in {} s; see its log, and 'posthorn standby status' "
                    "of both",
                    node_.name(), patience.count());
    }

private:
    admin_source& node_;
    real_clock clock_;
    worker_threads pace_{"posthorn-wait"};
};

bool is_text(const json::object& of, std::string_view field, std::string_view text) {
    const auto* const value = of.if_contains(field);
    return value != nullptr && value->is_string() && value->as_string() == text;
}

class standby_switch_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn standby switch --url http://127.0.0.1:7401\n"
            "Asks the primary, which gives its role to its standby once that has all, and follows "
            "from then on.\nNothing is lost and nothing repeated. Both need standby.to and "
            "standby.listen.");
    }

    result<> run(const console& terminal) override {
        if (where_.node.url.empty())
            return fail(error_code::invalid_argument,
                        "say whom to ask: --url, with the listen.admin of the primary");
        POSTHORN_LET(node, where_.open());
        POSTHORN_LET(begun, node->ask({.method = "POST", .path = "/_rf/standby/switch"}));
        const auto epoch = begun.at("epoch");
        POSTHORN_LET(after, role_watch(*node).wait([&](const json::object& told) {
            const auto* const follows = told.if_contains("hasPrimary");
            return (is_text(told, "role", "standby") && follows != nullptr && follows->is_bool() &&
                    follows->as_bool()) ||
                   (is_text(told, "role", "primary") && told.contains("switchTrouble") &&
                    !is_text(told, "switchTrouble", ""));
        }));
        if (is_text(after, "role", "primary"))
            return fail(error_code::state_changed, "it is the primary still: {}",
                        std::string_view(after.at("switchTrouble").as_string()));
        if (json_)
            print_json(terminal, json::object{{"switched", true}, {"epoch", epoch}});
        else
            terminal.out << fmt::format(
                "switched, epoch {}: this one follows, and the other one is the primary\n",
                json::serialize(epoch));
        return {};
    }

private:
    source_choice where_;
    bool json_ = false;
};

class standby_rejoin_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options
            .add_option("--primary", primary_.url,
                        "listen.admin of the primary of now, which tells where the logs part")
            ->type_name("URL");
        options.add_option("--primary-key", primary_.key, "its admin key")->type_name("KEY");
        options
            .add_option("--began", began_,
                        "the same as text: 'its history began' of 'posthorn standby status' there")
            ->type_name("TEXT");
        options.add_flag("--yes", yes_, "do it");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn standby rejoin --config orders.toml --primary "
            "http://10.0.0.2:7401 --yes\n"
            "On the machine of an old primary, whose place another has taken. Its log is cut where "
            "the two part,\nand what comes behind is kept as a file and listed. Without --primary "
            "or --began, or where it cannot be\ncut, its database is kept aside, and 'posthorn "
            "standby follow' copies all of the primary of now.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        POSTHORN_LET(file, file_of(settings));
        if (!yes_)
            return fail(error_code::invalid_argument,
                        "{} will be a standby's, and is not the service's any more; see to it that "
                        "another is, and add --yes",
                        file.string());
        POSTHORN_LET(history, new_history());
        POSTHORN_LET(done, standby::rejoin(file, history));
        if (json_)
            print_json(terminal, to_json(done));
        else if (done.was_cut)
            tell_of_tail(done, terminal);
        else
            tell_of_copy(done, terminal);
        return {};
    }

private:
    [[nodiscard]] result<std::optional<standby::new_history>> new_history() {
        auto text = began_;
        if (!primary_.url.empty()) {
            take_kept_key(primary_);
            POSTHORN_LET(told, make_node_source(primary_)->ask({.path = "/_rf/standby"}));
            const auto* const began = told.if_contains("began");
            if (began != nullptr && began->is_string()) text = std::string(began->as_string());
        }
        if (text.empty()) return std::optional<standby::new_history>{};
        auto read = standby::parse_new_history(text);
        if (!read)
            return fail(error_code::invalid_argument,
                        "--began cannot be \"{}\"; copy what 'posthorn standby status' of the "
                        "primary of now calls 'its history began'",
                        text);
        return read;
    }

    static json::object to_json(const standby::rejoin_report& done) {
        json::array lost;
        if (done.lost)
            for (const auto& each : done.lost->listed)
                lost.push_back(json::object{{"box", each.is_outbox ? "outbox" : "inbox"},
                                            {"id", each.id},
                                            {each.is_outbox ? "destination" : "source", each.peer},
                                            {"endpoint", each.endpoint},
                                            {"status", each.status}});
        return {{"kept", done.kept.string()},
                {"cut", done.was_cut},
                {"why", done.why},
                {"lostOutbox", done.lost ? json::value(done.lost->outbox) : json::value(nullptr)},
                {"lostInbox", done.lost ? json::value(done.lost->inbox) : json::value(nullptr)},
                {"lost", std::move(lost)},
                {"pending", done.pending ? json::value(*done.pending) : json::value(nullptr)}};
    }

    static void tell_of_tail(const standby::rejoin_report& done, const console& terminal) {
        if (done.kept.empty())
            terminal.out << "there was nothing behind where the two histories part\n";
        else
            terminal.out << fmt::format(
                "what was behind where the two histories part is kept as {}\n", done.kept.string());
        if (!done.lost) {
            terminal.out << "which messages were in it could not be read\n";
        } else if (!done.kept.empty()) {
            terminal.out << fmt::format(
                "messages in it, which the primary of now does not have: {} of the outbox, {} of "
                "the inbox\n",
                done.lost->outbox, done.lost->inbox);
            for (const auto& each : done.lost->listed)
                terminal.out << fmt::format(
                    "  {} {} {} {} {}\n", each.is_outbox ? "outbox" : "inbox", each.id,
                    each.is_outbox ? "to" : "from", each.peer, each.endpoint);
        }
        terminal.out << "next: posthorn standby follow; and on the new primary set standby.to\n";
    }

    static void tell_of_copy(const standby::rejoin_report& done, const console& terminal) {
        terminal.out << fmt::format(
            "all of it is to be copied anew, since {}\n"
            "what was there is kept as {}\n"
            "its messages that it had not sent, of which the new primary has those that were "
            "answered:{}\n"
            "  posthorn outbox list --status Pending --database {}\n"
            "next: posthorn standby follow; and on the new primary set standby.to\n",
            done.why, done.kept.string(),
            done.pending ? fmt::format(" {}", *done.pending) : " unknown", done.kept.string());
    }

    database_choice where_;
    node_address primary_;
    std::string began_;
    bool yes_ = false;
    bool json_ = false;
};

template <class Command>
std::unique_ptr<command> make() {
    return std::make_unique<Command>();
}

constexpr std::array members{
    command_entry{"follow", "keep a copy of a primary's database", make<standby_follow_command>},
    command_entry{"status", "how it stands between primary and standby",
                  make<standby_status_command>},
    command_entry{"promote", "let a copy take its primary's place", make<standby_promote_command>},
    command_entry{"switch", "let primary and standby change their roles",
                  make<standby_switch_command>},
    command_entry{"rejoin", "let the machine of an old primary begin anew as a standby",
                  make<standby_rejoin_command>},
};

}  // namespace

std::unique_ptr<command> make_standby_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
