#include "app/cli/program.hpp"

#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/kit/presentation.hpp"
#include "app/config/nearest.hpp"
#include "base/assert.hpp"

namespace posthorn::cli {
namespace {

using words = std::vector<std::string>;

std::string hint(std::string_view word, const std::vector<std::string_view>& known) {
    const auto near = nearest(word, known);
    return near ? fmt::format("; did you mean '{}'?", *near) : std::string(".");
}

// "posthorn keys rotate"
std::string full_name(const CLI::App& options) {
    const auto* parent = options.get_parent();
    return parent ? fmt::format("{} {}", full_name(*parent), options.get_name())
                  : options.get_name();
}

std::string help_hint(const CLI::App& options) {
    return fmt::format("Run '{} --help'.", full_name(options));
}

const CLI::App& deepest(const CLI::App& options) {
    const auto chosen = options.get_subcommands();
    return chosen.empty() ? options : deepest(*chosen.front());
}

bool every_member(const CLI::App* /*member*/) { return true; }

// The option as typed, without a value behind an equals sign.
std::string_view option_name(std::string_view word) { return word.substr(0, word.find('=')); }

error unexpected_word(const CLI::App& options, std::string_view word) {
    std::vector<std::string> names;
    if (!word.starts_with('-')) {
        for (const CLI::App* member : options.get_subcommands(every_member))
            names.push_back(member->get_name());
        const std::vector<std::string_view> known(names.begin(), names.end());
        return error(
            error_code::invalid_argument,
            fmt::format("unexpected '{}'{} {}", word, hint(word, known), help_hint(options)));
    }
    for (const CLI::Option* option : options.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    return error(error_code::invalid_argument,
                 fmt::format("unknown option '{}'{} {}", option_name(word),
                             hint(option_name(word), known), help_hint(options)));
}

void keep_extras(CLI::App& options) {
    options.allow_extras();
    for (CLI::App* member : options.get_subcommands([](CLI::App*) { return true; }))
        keep_extras(*member);
}

// `options` keeps what it does not know, so that we can say what was probably meant.
result<> parse(CLI::App& options, std::span<const std::string> arguments) {
    keep_extras(options);
    try {
        options.parse(words(arguments.rbegin(), arguments.rend()));  // It takes them reversed.
    } catch (const CLI::CallForHelp&) {
        throw;
    } catch (const CLI::ParseError& failure) {
        return fail(error_code::invalid_argument, "{}. {}", failure.what(),
                    help_hint(deepest(options)));
    }
    const auto left = options.remaining(true);
    if (!left.empty()) return std::unexpected(unexpected_word(deepest(options), left.front()));
    return {};
}

CLI::App make_options(const command_entry& entry) {
    return CLI::App(std::string(entry.summary), fmt::format("posthorn {}", entry.name));
}

result<exit_code> run_command(const command_entry& entry, std::span<const std::string> arguments,
                              const console& terminal) {
    CLI::App options = make_options(entry);
    const auto chosen = entry.create();
    chosen->declare(options);
    try {
        POSTHORN_TRY(parse(options, arguments));
    } catch (const CLI::CallForHelp&) {
        terminal.out << options.help();
        return exit_code::ok;
    }
    POSTHORN_TRY(chosen->run(terminal));
    return chosen->ended_with();
}

// `posthorn` followed by options instead of a command.
result<exit_code> run_options(std::span<const std::string> arguments, const console& terminal) {
    CLI::App options("", "posthorn");
    bool version = false;
    bool json = false;
    options.add_flag("-V,--version", version);
    options.add_flag("--json", json);
    try {
        POSTHORN_TRY(parse(options, arguments));
    } catch (const CLI::CallForHelp&) {
        terminal.out << program_help();
        return exit_code::ok;
    }
    if (!version)
        return fail(error_code::invalid_argument,
                    "--json goes with --version or behind a command. {}", help_hint(options));
    const words rest = json ? words{"--json"} : words{};
    return run_command(*find_command("version"), rest, terminal);
}

result<exit_code> dispatch(std::span<const std::string> arguments, const console& terminal) {
    if (arguments.empty()) {
        terminal.out << program_help();
        return exit_code::ok;
    }
    const std::string& first = arguments.front();
    if (first.starts_with('-')) return run_options(arguments, terminal);
    if (const auto* entry = find_command(first))
        return run_command(*entry, arguments.subspan(1), terminal);
    return std::unexpected(unknown_command(first));
}

}  // namespace

exit_code run_program(std::span<const std::string> arguments, const console& terminal) {
    try {
        const auto outcome = dispatch(arguments, terminal);
        if (outcome) return *outcome;
        // It may quote what a peer, a handler or a row said.
        terminal.err << "posthorn: " << to_shown(outcome.error().what()) << '\n';
        return exit_code_for(outcome.error());
    } catch (const std::exception& failure) {
        terminal.err << "posthorn: " << to_shown(failure.what()) << '\n';
        return exit_code::failed;
    }
}

error unknown_command(std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& entry : command_table()) known.push_back(entry.name);
    return error(
        error_code::invalid_argument,
        fmt::format("unknown command '{}'{} Run 'posthorn help'.", name, hint(name, known)));
}

std::string program_help() {
    std::string text =
        "posthorn: exactly-once messaging without a broker\n\n"
        "Usage: posthorn COMMAND [OPTIONS]\n\nCommands:\n";
    for (const auto& entry : command_table())
        text += fmt::format("  {:<10} {}\n", entry.name, entry.summary);
    text +=
        "\nOptions:\n"
        "  -h, --help     print this help, or that of a command\n"
        "  -V, --version  print versions; with --json as JSON\n"
        "\nExit codes: 0 ok; 1 failed; 2 wrong usage or configuration; 3 work is left ('drain').\n"
        "Run 'posthorn help COMMAND' for the options of a command.\n";
    return text;
}

std::string command_help(const command_entry& entry) {
    CLI::App options = make_options(entry);
    const auto described = entry.create();
    described->declare(options);
    return options.help();
}

}  // namespace posthorn::cli
