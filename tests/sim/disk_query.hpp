#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/checks/picture.hpp"
#include "support/fault_disk/fault_disk.hpp"

struct sqlite3;

namespace posthorn::sim {

/// One row as plain SQLite gives it.
class plain_row final : public answer_row {
public:
    explicit plain_row(void* statement) : statement_(statement) {}
    [[nodiscard]] std::string text(int column) const override;
    [[nodiscard]] std::int64_t number(int column) const override;
    [[nodiscard]] bool is_null(int column) const;

private:
    void* statement_;
};

/// A database on the disk, asked with SQLite alone, nothing of Posthorn's between. Recovers it
/// first, as the first one to open it after a crash does. Throws std::runtime_error.
class plain_query {
public:
    plain_query(const fault_disk& disk, const std::string& path)
        : plain_query(disk.vfs_name(), path) {}
    plain_query(const char* vfs, const std::string& path);

    void ask(const std::string& sql, const std::function<void(const plain_row&)>& visit);

private:
    struct closer {
        void operator()(sqlite3* handle) const;
    };
    std::unique_ptr<sqlite3, closer> database_;
};

inline void query_disk(const fault_disk& disk, const std::string& path, const std::string& sql,
                       const std::function<void(const plain_row&)>& visit) {
    plain_query(disk, path).ask(sql, visit);
}

/// One snapshot of a database in use, as one file; empty if it cannot be had.
[[nodiscard]] std::vector<std::byte> copy_database(const fault_disk& disk, const std::string& path);

/// As a program of another kind writes to the service's database: its own connection, its own
/// commit, and no sync. False if it could not; SQLite's locks are not waited for.
bool write_disk(const fault_disk& disk, const std::string& path, const std::string& sql);

}  // namespace posthorn::sim
