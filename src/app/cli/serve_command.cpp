#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>

#include "app/cli/kit/command.hpp"
#include "app/config/config.hpp"
#include "app/node/serve.hpp"

namespace posthorn::cli {
namespace {

class serve_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_, "the configuration; without it, the defaults hold")
            ->type_name("FILE");
        options.add_option("--listen", listen_, "where other services reach this one")
            ->type_name("HOST:PORT");
        options.add_option("--admin", admin_, "where operators and their tools do")
            ->type_name("HOST:PORT");
        options.footer(
            "Example: posthorn serve --config orders.toml\n"
            "SIGINT and SIGTERM stop it cleanly: work in flight is finished. SIGHUP reads the "
            "configuration again.");
    }

    result<> run(const console& terminal) override {
        POSTHORN_LET(settings, read());
        serve_options options;
        // Our parent process may be waiting for the line, so it must not sit in a buffer.
        options.announce = [&](const std::string& line) {
            terminal.out << line << '\n' << std::flush;
        };
        options.read_again = [this] { return read(); };
        return serve(settings, options);
    }

private:
    [[nodiscard]] result<config> read() const {
        auto settings = file_.empty() ? result<config>(config{}) : load_config(file_);
        if (!settings) return settings;
        POSTHORN_TRY(override_with(*settings, "listen.http", listen_, "--listen"));
        POSTHORN_TRY(override_with(*settings, "listen.admin", admin_, "--admin"));
        return settings;
    }

    static result<> override_with(config& settings, std::string_view key,
                                  const std::optional<std::string>& value,
                                  std::string_view option) {
        if (!value) return {};
        return set_config(settings, key, *value, option);
    }

    std::string file_;
    std::optional<std::string> listen_;
    std::optional<std::string> admin_;
};

}  // namespace

std::unique_ptr<command> make_serve_command() { return std::make_unique<serve_command>(); }

}  // namespace posthorn::cli
