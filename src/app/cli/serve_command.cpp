#include <filesystem>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>

#include "app/cli/kit/command.hpp"
#include "app/cli/kit/database.hpp"
#include "app/doctor/doctor_facts.hpp"
#include "app/node/serve.hpp"
#include "app/node/start_check.hpp"

namespace posthorn::cli {
namespace {

class serve_command final : public command {
public:
    void declare(CLI::App& options) override {
        options
            .add_option("-c,--config", file_,
                        "the configuration (posthorn.toml, if it is here; else the defaults)")
            ->type_name("FILE");
        options.add_option("--listen", listen_, "where other services reach this one")
            ->type_name("HOST:PORT");
        options.add_option("--admin", admin_, "where operators and their tools do")
            ->type_name("HOST:PORT");
        options.footer(
            "Example: posthorn serve --config orders.toml\n"
            "'posthorn config check' finds what would keep it from starting.\n"
            "SIGINT and SIGTERM stop it cleanly: work in flight is finished. SIGHUP reads the "
            "configuration again.");
    }

    result<> run(const console& terminal) override {
        file_ = config_file_or_default(std::move(file_));
        POSTHORN_LET(settings, read());
        serve_options options;
        // Our parent process may be waiting for the line, so it must not sit in a buffer.
        options.announce = [&](const std::string& line) {
            terminal.out << line << '\n' << std::flush;
        };
        options.read_again = [this] { return read_again(); };
        options.findings = find_in_own;
        return serve(settings, options);
    }

private:
    [[nodiscard]] result<config> read() const {
        start_findings found;
        auto settings = file_.empty() ? config{} : read_and_check(file_, real_clock{}, found);
        POSTHORN_TRY(found.problems.outcome());
        POSTHORN_TRY(override_with(settings, "listen.http", listen_, "--listen"));
        POSTHORN_TRY(override_with(settings, "listen.admin", admin_, "--admin"));
        return settings;
    }

    // A pipe or a device may give nothing for ever, and the signals behind this one would wait. At the
    // start it may well be one: a shell makes one of <(...).
    [[nodiscard]] result<config> read_again() const {
        std::error_code unusable;
        const auto what = std::filesystem::status(file_, unusable);
        if (!file_.empty() && std::filesystem::exists(what) &&
            !std::filesystem::is_regular_file(what) && !std::filesystem::is_directory(what))
            return fail(error_code::invalid_configuration,
                        "{}: it is not a regular file, and only such a one is read again", file_);
        return read();
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
