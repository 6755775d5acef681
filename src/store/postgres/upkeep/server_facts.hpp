#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "store/beside_report.hpp"
#include "store/inspection.hpp"
#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/schema_differences.hpp"

namespace posthorn::postgres {

/// What a person wants to know of a store on a server, without a node.
struct server_facts {
    std::string service;  // Whose it is; empty if it is not said.
    std::int64_t step = 0;
    std::int64_t step_known = 0;
    std::int64_t dead = 0;
    std::int64_t expired = 0;
    blocked_report blocked{};           // What waits behind one of these.
    backlog_report backlog{};           // What waits, by destination.
    beside_report beside{};             // What is wrong in the tables beside messages.
    std::optional<wall_time> newest{};  // The latest time that anything in it was done at.
    std::int64_t numbers_left = std::int64_t{1} << 62;  // For messages to come.
    bool is_synced = true;                              // False with `fsync = off`.
    bool is_read_only = false;                          // It, or this role there.
    schema_differences schema{};                        // From what this program makes.
    std::string missing_rights;  // And what to grant; empty if there are none.
};

/// Connects and looks, and changes nothing. `above` are the tables of other folders.
/// `error_code::not_found` where there are no tables.
result<server_facts> look_at_server(const connect_options& where, std::span<const table_set> above,
                                    const clock& time);

/// The numbers of the one row that a query gives; `{s}` in it stands for the schema.
result<std::vector<std::int64_t>> ask_server(const connect_options& where, const std::string& sql,
                                             const clock& time);

}  // namespace posthorn::postgres
