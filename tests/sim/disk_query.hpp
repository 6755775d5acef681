#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sim {

/// One row as plain SQLite gives it.
class plain_row {
public:
    explicit plain_row(void* statement) : statement_(statement) {}
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] bool is_null(int column) const;

private:
    void* statement_;
};

/// Asks a database on the disk with SQLite alone, nothing of Posthorn's between. Recovers it first,
/// as the first one to open it after a crash does. Throws std::runtime_error.
void query_disk(const fault_disk& disk, const std::string& path, const std::string& sql,
                const std::function<void(const plain_row&)>& visit);

/// As a program of another kind writes to the service's database: its own connection, its own
/// commit, and no sync. False if it could not; SQLite's locks are not waited for.
bool write_disk(const fault_disk& disk, const std::string& path, const std::string& sql);

}  // namespace posthorn::sim
