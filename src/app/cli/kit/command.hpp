#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's names.
class App;       // NOLINT(readability-identifier-naming)
}

namespace posthorn {
class feature;
}

namespace posthorn::cli {

/// What a process of ours ends with; documented in docs/reference/cli.md.
enum class exit_code : int {
    ok = 0,
    failed = 1,
    usage = 2,      // The command line, the configuration or an address in it is wrong.
    work_left = 3,  // Of `drain`.
};

[[nodiscard]] exit_code exit_code_for(const error& failure) noexcept;

/// Where a command writes: results to `out`, complaints to `err`; and what it may read.
struct console {
    std::ostream& out;
    std::ostream& err;
    std::istream* in = nullptr;  // None if there is none.
    std::size_t columns = 0;     // Of the terminal that `out` is; zero if it is not one.
    std::size_t rows = 0;        // Likewise.
    bool colours = false;        // Whether `--color=auto` means them.
    /// Waits between two looks of `--watch`; false if there is to be no other. Ours if empty.
    std::function<bool(std::chrono::milliseconds)> wait{};
};

/// One command of the program, made for one run.
///
/// Lifetime: construct, `declare`, let the options be parsed, `run`.
class command {
public:
    virtual ~command() = default;

    /// Adds the command's options, bound to its members.
    virtual void declare(CLI::App& options) = 0;
    /// Works with the options given. An error is printed by the caller.
    virtual result<> run(const console& terminal) = 0;
    /// What the process ends with after a run without an error.
    [[nodiscard]] virtual exit_code ended_with() const noexcept { return exit_code::ok; }
};

/// `posthorn NAME …` of a feature.
[[nodiscard]] std::unique_ptr<command> make_feature_commands(const feature& of);

struct command_entry {
    std::string_view name;
    std::string_view summary;  // One line, in the imperative.
    std::unique_ptr<command> (*make)() = nullptr;
    const feature* of = nullptr;  // Whose commands it holds, in place of `make`.

    [[nodiscard]] std::unique_ptr<command> create() const {
        return of != nullptr ? make_feature_commands(*of) : make();
    }
};

/// Every command there is, in the order in which `posthorn help` lists them.
[[nodiscard]] std::span<const command_entry> command_table();
[[nodiscard]] const command_entry* find_command(std::string_view name);

/// A command that only holds others, such as `keys`.
///
/// Lifetime: as any command; the entries outlive it.
class command_group final : public command {
public:
    explicit command_group(std::span<const command_entry> entries) : entries_(entries) {}

    void declare(CLI::App& options) override;
    result<> run(const console& terminal) override;

private:
    std::span<const command_entry> entries_;
    std::vector<std::pair<CLI::App*, std::unique_ptr<command>>> members_;
};

// In the order of the table.
std::unique_ptr<command> make_init_command();
std::unique_ptr<command> make_serve_command();
std::unique_ptr<command> make_drain_command();
std::unique_ptr<command> make_function_command();
std::unique_ptr<command> make_demo_command();
std::unique_ptr<command> make_send_command();
std::unique_ptr<command> make_outbox_command();
std::unique_ptr<command> make_dead_command();
std::unique_ptr<command> make_inbox_command();
std::unique_ptr<command> make_stats_command();
std::unique_ptr<command> make_health_command();
std::unique_ptr<command> make_top_command();
std::unique_ptr<command> make_doctor_command();
std::unique_ptr<command> make_backup_command();
std::unique_ptr<command> make_restore_command();
std::unique_ptr<command> make_standby_command();
std::unique_ptr<command> make_compact_command();
std::unique_ptr<command> make_migrate_command();
std::unique_ptr<command> make_keys_command();
std::unique_ptr<command> make_config_command();
std::unique_ptr<command> make_contracts_command();
std::unique_ptr<command> make_completion_command();
std::unique_ptr<command> make_version_command();
std::unique_ptr<command> make_help_command();

// Members of others.
std::unique_ptr<command> make_outbox_replay_command();

}  // namespace posthorn::cli
