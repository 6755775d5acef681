#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace posthorn::crash {

/// What a service and its receiver held before anything was damaged.
struct held {
    struct message {
        std::string payload;
        std::string receipt{};        // Empty if it had no effect yet.
        std::size_t transaction = 0;  // Which one it was sent in, from 0 on.
    };
    std::map<std::string, message> messages{};  // By their ids.
};

/// Makes the databases of a killed pair, and a backup of each, in a folder; gives what they hold.
/// Some messages were delivered, some of these are not known to be, and some wait.
held make_killed_pair(const std::string& folder);

/// What became of one damage, in a process that ends by itself.
struct verdict {
    std::string kind{};    // `harmless` and so on, to be counted.
    std::string faults{};  // What must never be; empty if nothing was.
};

/// Where the damage was.
struct damaged_place {
    std::string service{};
    bool in_log = false;
    bool in_backup = false;  // The service is restored from it first.
    /// The application's rows carry no mark of ours: there a changed value is as good as any other.
    bool in_own_rows = false;
};

/// Starts both services on a folder in which something was damaged, lets them send what waits and
/// everything else again, and looks what came of it.
///
/// SQLite takes a log for ended where it is damaged, as after a power cut, and nothing else tells
/// the two apart. What the last transactions did is then gone, as after a restore: all of each, at
/// that service alone, and nothing before them. That is `rolled back`.
verdict judge_damage(const std::string& folder, const held& before, const damaged_place& where);

}  // namespace posthorn::crash
