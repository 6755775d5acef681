#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sqlite3.h>

#include "store/log_shipper.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Has a COMMIT write the pages that it adds to the log with one call of the system.
///
/// SQLite writes each with two, a header and the page. Here they are held back until the one comes
/// that ends the transaction, or until SQLite counts on the file: before it reads, syncs, measures
/// or cuts it. What is in the file when others learn of the commit is the same, and a commit that
/// fails leaves nothing behind that could be written later.
///
/// Threads: the connection's.
class wal_write_buffer {
public:
    wal_write_buffer() = default;
    wal_write_buffer(const wal_write_buffer&) = delete;
    wal_write_buffer& operator=(const wal_write_buffer&) = delete;

    /// What takes each commit elsewhere while it is synced here; null if nothing does.
    void ship_with(log_shipper* shipper) { shipper_ = shipper; }

    /// Runs `commit`, a COMMIT, on its connection.
    result<> run(connection& database, statement& commit);

private:
    /// What the log's file has in place of its own functions meanwhile; it keeps its type.
    struct functions : sqlite3_io_methods {
        wal_write_buffer* owner = nullptr;
    };
    class in_place;

    static wal_write_buffer& of(sqlite3_file* file);
    static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at);
    static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 at);
    static int truncate(sqlite3_file* file, sqlite3_int64 size);
    static int sync(sqlite3_file* file, int flags);
    static int measure(sqlite3_file* file, sqlite3_int64* size);

    void stand_in_for(const sqlite3_io_methods& theirs);
    [[nodiscard]] sqlite3_int64 end() const;
    int hold(const void* data, int size);
    int write_held(sqlite3_file* file);

    functions ours_{};
    const sqlite3_io_methods* theirs_ = nullptr;
    std::vector<std::byte> held_;
    sqlite3_int64 start_ = 0;       // Where in the file the first held byte belongs.
    bool ends_ = false;             // The page that comes next ends the transaction,
    bool has_ended_ = false;        // or has.
    sqlite3_int64 written_to_ = 0;  // The end of what this commit has written.
    log_shipper* shipper_ = nullptr;
};

}  // namespace posthorn::sqlite
