#include <algorithm>
#include <array>

#include "app/cli/bench/bench_command.hpp"
#include "app/cli/kit/command.hpp"
#include "app/features.hpp"

namespace posthorn::cli {
namespace {

constexpr std::array table{
    command_entry{"init", "make a database and a configuration to start from", make_init_command},
    command_entry{"serve", "run a node until it is told to stop", make_serve_command},
    command_entry{"drain", "send what is due, and end", make_drain_command},
    command_entry{"function", "send what is due whenever a platform of functions calls",
                  make_function_command},
    command_entry{"demo", "show that every order arrives once while services are killed",
                  make_demo_command},
    command_entry{"send", "store a message for delivery", make_send_command},
    command_entry{"outbox", "look at what is to be sent", make_outbox_command},
    command_entry{"dead", "look at what was given up, and requeue, resolve or delete it",
                  make_dead_command},
    command_entry{"inbox", "look at what was taken in", make_inbox_command},
    command_entry{"stats", "count messages, sent and received", make_stats_command},
    command_entry{"health", "tell how a node is", make_health_command},
    command_entry{"top", "watch a node live, and pause, resume or try destinations",
                  make_top_command},
    command_entry{"doctor", "find what is weak, and tell what to do", make_doctor_command},
    command_entry{"backup", "copy a database that is in use, list and verify copies",
                  make_backup_command},
    command_entry{"restore", "put a backup in the place of a database", make_restore_command},
    command_entry{"standby", "keep a second copy of a database, and let it take over",
                  make_standby_command},
    command_entry{"compact", "write a database anew, without its holes", make_compact_command},
    command_entry{"migrate", "move a database to a PostgreSQL server", make_migrate_command},
    command_entry{"keys", "make, rotate, revoke and show keys", make_keys_command},
    command_entry{"bench", "measure how fast messages go on this machine", make_bench_command},
    command_entry{"config", "look at a configuration", make_config_command},
    command_entry{"contracts", "publish and use what services offer, and compare it",
                  make_contracts_command},
    command_entry{"completion", "print a script that completes commands", make_completion_command},
    command_entry{"version", "print the versions of Posthorn and its parts", make_version_command},
    command_entry{"help", "explain a command", make_help_command},
};

}  // namespace

std::span<const command_entry> command_table() {
    static const auto all = [] {
        std::vector<command_entry> entries(table.begin(), table.end());
        const auto help = std::ranges::find(entries, "completion", &command_entry::name);
        std::vector<command_entry> of_features;
        for (const auto* const each : all_features())
            if (!each->commands().empty())
                of_features.push_back({each->name(), each->summary(), nullptr, each});
        entries.insert(help, of_features.begin(), of_features.end());
        return entries;
    }();
    return all;
}

const command_entry* find_command(std::string_view name) {
    const auto found = std::ranges::find(command_table(), name, &command_entry::name);
    return found == command_table().end() ? nullptr : &*found;
}

exit_code exit_code_for(const error& failure) noexcept {
    switch (failure.code()) {
        case error_code::invalid_argument:
        case error_code::invalid_configuration:
        case error_code::secret_unavailable:
        case error_code::certificate_unusable:
        case error_code::address_unavailable: return exit_code::usage;
        default: return exit_code::failed;
    }
}

}  // namespace posthorn::cli
