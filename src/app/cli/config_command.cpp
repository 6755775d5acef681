#include <array>
#include <ostream>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/cli/kit/json_output.hpp"
#include "app/cli/kit/options.hpp"
#include "app/cli/kit/presentation.hpp"
#include "app/node/start_check.hpp"

namespace posthorn::cli {
namespace {

class config_show_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_,
                        "the configuration (posthorn.toml, if it is here; else the defaults)")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer("Example: posthorn config show --config orders.toml");
    }

    result<> run(const console& terminal) override {
        file_ = config_file_or_default(std::move(file_));
        POSTHORN_LET(settings, file_.empty() ? result<config>(config{}) : load_config(file_));
        const auto entries = list_config(settings);
        if (json_) {
            boost::json::array list;
            for (const auto& each : entries)
                list.push_back(boost::json::object{{"key", each.key},
                                                   {"value", each.value},
                                                   {"type", each.type},
                                                   {"origin", each.origin},
                                                   {"note", each.note},
                                                   {"doc", each.doc}});
            print_json(terminal, list);
            return {};
        }
        text_table table({"KEY", "VALUE", "FROM"});
        for (const auto& each : entries)
            table.add({to_cell(each.key), to_cell(each.value), to_cell(each.origin)});
        terminal.out << table.to_text();
        for (const auto& each : entries)
            if (!each.note.empty()) terminal.out << '\n' << each.key << ": " << each.note << '\n';
        return {};
    }

private:
    std::string file_;
    bool json_ = false;
};

std::unique_ptr<command> make_config_show_command() {
    return std::make_unique<config_show_command>();
}

/// Finds all that would keep `posthorn serve` from starting.
class config_check_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_, "the configuration (posthorn.toml, if it is here)")
            ->type_name("FILE");
        add_json_flag(options, json_);
        options.footer(
            "Example: posthorn config check --config orders.toml\n"
            "Looks at keys and values, secrets and their files, certificates, and the SQL of "
            "handlers. It changes nothing, and may run beside the node.");
    }

    result<> run(const console& terminal) override {
        file_ = config_file_or_default(std::move(file_));
        if (file_.empty())
            return fail(error_code::invalid_argument,
                        "say which configuration: --config FILE, or change to the folder of a {}",
                        config_file_default);
        start_findings found;
        const auto settings = read_and_check(file_, real_clock{}, found);
        const auto problems = found.problems.texts();
        if (json_)
            print_json(terminal, to_json(found));
        else
            print(settings, found, terminal);
        if (problems.empty() && found.unreachable)
            return fail(found.unreachable->code(),
                        "no mistake was found in {}, but a node would not start now: its database "
                        "cannot be used",
                        file_);
        if (problems.empty()) return {};
        return fail(
            error_code::invalid_configuration, "{} has {}, so a node would not start with it",
            file_,
            problems.size() == 1 ? "a mistake" : fmt::format("{} mistakes", problems.size()));
    }

private:
    void print(const config& settings, const start_findings& found, const console& terminal) const {
        for (const auto& each : found.problems.texts()) terminal.out << to_shown(each) << '\n';
        for (const auto& each : found.remarks) terminal.out << "note: " << to_shown(each) << '\n';
        if (found.problems.none() && !found.unreachable)
            terminal.out << file_ << " is right: service " << settings.service.id << ", database "
                         << settings.shown_database() << '\n';
    }

    [[nodiscard]] boost::json::object to_json(const start_findings& found) const {
        boost::json::array problems;
        for (const auto& each : found.problems.texts()) {
            const auto line = line_of_problem(each);
            boost::json::object one{{"text", each}};
            if (line != no_line) one["line"] = line;
            problems.push_back(std::move(one));
        }
        boost::json::array remarks;
        for (const auto& each : found.remarks) remarks.emplace_back(each);
        return {{"file", file_},
                {"ok", found.problems.none() && !found.unreachable},
                {"problems", std::move(problems)},
                {"remarks", std::move(remarks)}};
    }

    std::string file_;
    bool json_ = false;
};

std::unique_ptr<command> make_config_check_command() {
    return std::make_unique<config_check_command>();
}

constexpr std::array members{
    command_entry{"check", "find every mistake that would keep a node from starting",
                  make_config_check_command},
    command_entry{"show", "print every key, its value and where it came from",
                  make_config_show_command},
};

}  // namespace

std::unique_ptr<command> make_config_command() { return std::make_unique<command_group>(members); }

}  // namespace posthorn::cli
