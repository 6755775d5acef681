#include <ostream>

#include <CLI/CLI.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/program.hpp"

namespace posthorn::cli {
namespace {

class help_command final : public command {
public:
    void declare(CLI::App& options) override {
        options.add_option("COMMAND", name_, "the command to explain; without it, the program");
        options.footer("Example: posthorn help send");
    }

    result<> run(const console& terminal) override {
        if (name_.empty()) {
            terminal.out << program_help();
            return {};
        }
        const auto* entry = find_command(name_);
        if (!entry) return std::unexpected(unknown_command(name_));
        terminal.out << command_help(*entry);
        return {};
    }

private:
    std::string name_;
};

}  // namespace

std::unique_ptr<command> make_help_command() { return std::make_unique<help_command>(); }

}  // namespace posthorn::cli
