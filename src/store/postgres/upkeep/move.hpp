#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "store/migration.hpp"

namespace posthorn::postgres {

struct move_options {
    std::string file;  // A stopped node's.
    std::string url;
    std::string schema = "outbox";
    std::string id;                  // A new one, for this move.
    std::vector<table_set> above{};  // Of the folders above.
    /// How many rows have been written or read back, of how many, and of which table.
    std::function<void(std::int64_t done, std::int64_t all, std::string_view table)> progress{};
};

struct moved_table {
    std::string name;
    std::int64_t rows = 0;
    std::int64_t hash = 0;  // The same in the file and on the server.
};

struct move_report {
    std::string to;                   // For people, without a password.
    std::vector<moved_table> tables;  // None if an earlier run had copied them.
    std::vector<std::string> left;    // Tables in the file that are not Posthorn's.
    bool was_there = false;           // An earlier run had done all but say so.
};

/// Copies the store in a file to a server, whole or not at all, and says so in the file: from then
/// on no node starts on it. What was cut off is done again, or only finished if it was complete.
result<move_report> move_to_server(const move_options& options, const clock& time);

/// Lets a node start on the file again. With a server named, only if the copy is not there.
result<> take_move_back(const move_options& options, const clock& time);

}  // namespace posthorn::postgres
