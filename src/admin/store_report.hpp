#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <posthorn/detail/time.hpp>

#include "store/disk_room.hpp"
#include "store/sqlite/upkeep/backup_keeper.hpp"

namespace posthorn {

/// How one database is kept.
struct database_report {
    std::string kind;   // SQLite or PostgreSQL.
    std::string place;  // Its path or URL, without a password.
    std::string holds;  // Such as outbox and inbox.
    std::optional<std::uint64_t> bytes{};
    std::optional<std::uint64_t> log_bytes{};   // What is not in the file itself yet.
    std::optional<std::uint64_t> free_bytes{};  // Inside the file, for what comes.
    std::string size_error{};                   // Why its size cannot be told.
    std::optional<disk_report> disk{};          // None where a server has it.
};

/// What is deleted by itself, and when; nothing is for ever unless it says so.
struct retention_rule {
    std::string what;
    std::optional<std::chrono::milliseconds> keeps{};
};

struct store_finding {
    std::string check;
    std::string level;  // ok, warn or bad.
    std::string what;
    std::string why{};
    std::string todo{};
};

/// How a node keeps what it holds.
struct store_report {
    std::vector<database_report> databases{};
    std::optional<sqlite::backup_plan> backup_plan{};
    std::vector<sqlite::backup_state> backups{};
    std::vector<retention_rule> retention{};
    std::vector<store_finding> findings{};
};

/// Pure.
[[nodiscard]] boost::json::object to_json(const store_report& report);

}  // namespace posthorn
