#include <array>
#include <filesystem>
#include <ostream>

#include <boost/json/object.hpp>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/node/follow.hpp"
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
            "is on\nlisten.admin. SIGINT and SIGTERM stop it cleanly.");
    }

    result<> run(const console& terminal) override {
        file_ = config_file_or_default(std::move(file_));
        POSTHORN_LET(settings, file_.empty() ? result<config>(config{}) : load_config(file_));
        return follow(settings, {.announce = [&](const std::string& line) {
                          terminal.out << line << '\n' << std::flush;
                      }});
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
        constexpr std::array<std::pair<std::string_view, std::string_view>, 16> lines{{
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

class standby_rejoin_command final : public command {
public:
    void declare(CLI::App& options) override {
        where_.declare(options);
        options.add_flag("--yes", yes_, "do it");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn standby rejoin --config orders.toml --yes\n"
            "On the machine of an old primary, whose place another has taken. Its database is kept "
            "aside;\nthen 'posthorn standby follow' copies that of the primary of now.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, where_.settings());
        POSTHORN_LET(file, file_of(settings));
        if (!yes_)
            return fail(error_code::invalid_argument,
                        "{} will be kept aside, and is not the service's any more; see to it that "
                        "another is, and add --yes",
                        file.string());
        POSTHORN_LET(done, standby::rejoin(file));
        if (json_) {
            print_json(terminal, json::object{{"kept", done.kept.string()},
                                              {"pending", done.pending ? json::value(*done.pending)
                                                                       : json::value(nullptr)}});
            return {};
        }
        terminal.out << fmt::format(
            "what was there is kept as {}\n"
            "its messages that it had not sent, of which the new primary has those that were "
            "answered:{}\n"
            "  posthorn outbox list --status Pending --database {}\n"
            "next: posthorn standby follow; and on the new primary set standby.to\n",
            done.kept.string(), done.pending ? fmt::format(" {}", *done.pending) : " unknown",
            done.kept.string());
        return {};
    }

private:
    database_choice where_;
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
    command_entry{"rejoin", "let the machine of an old primary begin anew as a standby",
                  make<standby_rejoin_command>},
};

}  // namespace

std::unique_ptr<command> make_standby_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
