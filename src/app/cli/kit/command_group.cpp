#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

void command_group::declare(CLI::App& options) {
    for (const auto& entry : entries_) {
        auto* member = options.add_subcommand(std::string(entry.name), std::string(entry.summary));
        auto made = entry.create();
        made->declare(*member);
        members_.emplace_back(member, std::move(made));
    }
    if (!members_.empty()) options.footer(members_.front().first->get_footer());
}

result<> command_group::run(const console& terminal) {
    std::vector<std::string_view> names;
    for (const auto& entry : entries_) names.push_back(entry.name);
    for (const auto& [options, member] : members_)
        if (options->parsed()) return member->run(terminal);
    return fail(error_code::invalid_argument, "say what to do: {}. Add --help for more.",
                fmt::join(names, ", "));
}

}  // namespace posthorn::cli
