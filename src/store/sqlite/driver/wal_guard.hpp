#pragma once

#include <cstdint>
#include <mutex>

#include "store/sqlite/driver/connection.hpp"

struct sqlite3_file;

namespace posthorn::sqlite {

/// Keeps all others from checkpointing the file while a node runs.
///
/// SQLite 3.7.0 to 3.51.2 can lose committed rows when one connection checkpoints while another
/// resets the WAL, and `integrity_check` does not notice. So this connection holds the WAL's
/// checkpoint lock, and our own checkpoints run while our writer holds the write lock: then no
/// other can reset the WAL at the same time (docs/adr/0009-wal-reset-guard.md).
///
/// Lifetime: destroyed before the last other connection of the store.
/// Threads:  any.
class wal_guard {
public:
    static result<std::unique_ptr<wal_guard>> open(const open_options& options);
    ~wal_guard();
    wal_guard(const wal_guard&) = delete;
    wal_guard& operator=(const wal_guard&) = delete;

    /// Takes the lock unless it is held; false if another node has it.
    bool hold();
    [[nodiscard]] bool holds() const;
    /// Lets go, so that SQLite can recover the WAL's index, which needs this lock too.
    void release();

    /// Copies what it can of the WAL into the file, without letting go of the lock. The caller has
    /// the write lock, through another connection, and keeps it until this returns.
    result<> checkpoint();

    /// Where the last transaction in the log ends, for who has the write lock; zero if the log is
    /// empty.
    [[nodiscard]] std::uint64_t log_end() const;

private:
    explicit wal_guard(connection database) : database_(std::move(database)) {}
    bool lock();
    void unlock();

    mutable std::mutex mutex_;
    connection database_;
    sqlite3_file* file_ = nullptr;
    bool held_ = false;
};

}  // namespace posthorn::sqlite
