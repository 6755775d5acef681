#include "app/cli/command_form.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/cli/kit/command.hpp"
#include "app/cli/program.hpp"

namespace posthorn::cli {
namespace {

// What CLI11 writes for a closed list: TEXT:{viewer,operator,worker}.
std::vector<std::string> choices_in(const std::string& type) {
    const auto open = type.find('{');
    const auto close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

option_form form_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    option_form form{.choices = choices_in(type),
                     .takes_value = option.get_items_expected_max() > 0,
                     .is_file = type == "FILE" || option.get_name().starts_with("FILE"),
                     .summary = option.get_description()};
    for (const auto& name : option.get_lnames()) form.names.push_back("--" + name);
    for (const auto& name : option.get_snames()) form.names.push_back("-" + name);
    return form;
}

void add_forms(const CLI::App& options, const std::vector<std::string>& path,
               std::vector<command_form>& forms) {
    std::string parents = "posthorn";
    for (std::size_t i = 0; i + 1 < path.size(); ++i) parents += " " + path[i];
    // The outermost one bears the program's name itself.
    command_form form{.path = path,
                      .summary = options.get_description(),
                      .help = path.size() > 1 ? options.help(parents) : options.help()};
    for (const auto* option : options.get_options())
        if (!option->get_group().empty()) form.options.push_back(form_of(*option));  // Else hidden.
    const auto members = options.get_subcommands([](const CLI::App*) { return true; });
    for (const auto* member : members) form.members.push_back(member->get_name());
    forms.push_back(std::move(form));
    for (const auto* member : members) {
        auto inside = path;
        inside.push_back(member->get_name());
        add_forms(*member, inside, forms);
    }
}

}  // namespace

std::vector<command_form> list_commands() {
    command_form program{.help = program_help(),
                         .options = {{.names = {"--help", "-h"}, .summary = "print this help"},
                                     {.names = {"--version", "-V"}, .summary = "print versions"}}};
    for (const auto& entry : command_table()) program.members.emplace_back(entry.name);
    std::vector<command_form> forms{std::move(program)};
    for (const auto& entry : command_table()) {
        CLI::App options(std::string(entry.summary), fmt::format("posthorn {}", entry.name));
        const auto described = entry.create();
        described->declare(options);
        add_forms(options, {std::string(entry.name)}, forms);
    }
    return forms;
}

}  // namespace posthorn::cli
