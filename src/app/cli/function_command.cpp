#include <charconv>
#include <cstdlib>
#include <ostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/rounds/function.hpp"

namespace posthorn::cli {
namespace {

constexpr auto port_variable = "FUNCTIONS_CUSTOMHANDLER_PORT";

class function_command final : public command {
public:
    void declare(CLI::App& options) override {
        chosen_.declare(options);
        options.add_option("--batch", options_.batch, "messages at a call, at most (50)")
            ->type_name("N")
            ->check(CLI::Range(1, 10'000));
        options.add_option("--port", options_.port, "where it is called, on loopback")
            ->type_name("PORT");
        options.footer(
            "Example: posthorn function --config orders.toml\n"
            "A custom handler of Azure Functions: host.json names this command, and the platform "
            "says\nthe port in FUNCTIONS_CUSTOMHANDLER_PORT.");
    }

    result<> run(const console& terminal) override {
        if (options_.port == 0) POSTHORN_TRY(read_port());
        options_.announce = [&](const std::string& line) {
            terminal.out << line << '\n' << std::flush;
        };
        POSTHORN_LET(settings, chosen_.settings());
        return serve_function(std::move(settings), options_);
    }

private:
    result<> read_port() {
        const char* const said = std::getenv(port_variable);
        if (said == nullptr) return {};  // Any that is free, which it prints.
        const std::string_view text(said);
        const auto [end, wrong] = std::from_chars(text.begin(), text.end(), options_.port);
        if (wrong == std::errc{} && end == text.end()) return {};
        return fail(error_code::invalid_argument, "{} cannot be '{}'; it is a port", port_variable,
                    text);
    }

    database_choice chosen_;
    function_options options_;
};

}  // namespace

std::unique_ptr<command> make_function_command() { return std::make_unique<function_command>(); }

}  // namespace posthorn::cli
