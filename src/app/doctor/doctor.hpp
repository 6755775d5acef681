#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "store/sqlite/upkeep/file_facts.hpp"

namespace posthorn {

enum class finding_level : std::uint8_t { ok, warn, bad };
[[nodiscard]] std::string_view to_string(finding_level level) noexcept;

/// What one check found: what is so, why it matters, what to do.
struct finding {
    finding_level level = finding_level::ok;
    std::string what;
    std::string why{};  // These two only if something is to be done.
    std::string todo{};

    bool operator==(const finding&) const = default;
};

/// A file or folder, and who may do what with it.
struct file_rights {
    enum class kind : std::uint8_t { database, backup, folder, secret, configuration };
    kind what = kind::database;
    std::string path;
    unsigned mode = 0;             // As of chmod.
    bool is_closed_above = false;  // Others cannot enter its folder.
};

struct secret_size {
    std::string peer;
    std::size_t bytes = 0;  // Of the shortest key.
};

/// Everything the checks go by, gathered before any of them runs. The defaults are those of a
/// healthy set-up.
struct doctor_facts {
    // What the configuration says.
    bool synchronous_full = true;
    bool durable = true;  // False where the store is in memory.
    bool shared = true;
    std::chrono::milliseconds inbox_retention = std::chrono::hours{48};
    std::chrono::milliseconds inbox_retention_needed = std::chrono::hours{25};
    std::string admin_address{};  // Empty if there is none.
    bool admin_is_loopback = true;
    std::size_t admin_keys = 0;
    std::string http_address{};
    bool http_is_loopback = true;
    bool http_has_tls = false;
    std::string standby{};               // Where it is; empty if there is none.
    bool standby_may_lack = false;       // What is answered need not be there.
    bool standby_link_is_open = false;   // Others can read what the pair says.
    bool is_standby = false;             // The database is a copy that a primary's log changes.
    std::string standby_error{};         // Why the pair cannot work.
    std::vector<std::string> brokers{};  // Routes to them, each with what its broker may not keep.
    std::vector<secret_size> secrets{};
    std::vector<std::string> legacy_peers{};  // Those who sign in an older way.
    std::string secrets_error{};              // Why they cannot be used.
    std::optional<std::chrono::milliseconds> backup_every = std::chrono::hours{1};
    std::uint64_t disk_low_water_bytes = std::uint64_t{64} << 20;

    // What the machine says.
    int sqlite_version = 3051003;
    wall_time now{};
    std::uint64_t disk_free_bytes = std::uint64_t{100} << 30;
    std::uint64_t disk_bytes = std::uint64_t{200} << 30;
    std::uint64_t database_bytes = 0;
    std::uint64_t log_bytes = 0;
    std::optional<wall_time> file_changed_at{};
    std::vector<file_rights> rights{};
    std::string user{};   // Some process that has the database open; empty if none has.
    std::string guard{};  // What keeps others from checkpointing; empty if nothing does.
    bool node_runs = false;
    std::optional<wall_time> newest_backup{};
    std::string backups_error{};  // Why the folder cannot be looked through.

    // What the database says; empty if it cannot be read.
    std::optional<sqlite::file_facts> file =
        sqlite::file_facts{.journal_mode = "wal", .auto_vacuum = 2, .step = 1, .step_known = 1};
    std::string file_error{};
    bool on_server = false;  // There is no file then; of `file` only what a server says counts.
    bool server_is_synced = true;
    bool server_is_read_only = false;
    std::string missing_rights{};  // On a server, and what to grant.
    bool checked_fully = false;
    std::string service{};  // Who should own it; empty if not said.
};

struct doctor_check {
    std::string_view name;
    finding (*look)(const doctor_facts&);
    /// A node can ask it of itself: it goes by no file of the database that would have to be opened
    /// a second time.
    bool by_node = false;
};

/// Every check, in the order in which people should see them. Each is pure.
[[nodiscard]] std::span<const doctor_check> doctor_checks();

// Over the database, in a file of their own.
finding check_tables(const doctor_facts& facts);
finding check_integrity(const doctor_facts& facts);
finding check_log_mode(const doctor_facts& facts);
finding check_guard(const doctor_facts& facts);
finding check_log_size(const doctor_facts& facts);
finding check_vacuum(const doctor_facts& facts);
finding check_dispatcher(const doctor_facts& facts);
finding check_messages(const doctor_facts& facts);

// In one of its own too.
finding check_standby(const doctor_facts& facts);
finding check_brokers(const doctor_facts& facts);

}  // namespace posthorn
