#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace posthorn {

namespace faults {
class disk_state;
struct vfs_registration;
}  // namespace faults

/// Syncs that succeeded, by what they were asked of.
struct sync_counts {
    std::uint64_t database = 0;
    std::uint64_t wal = 0;
    std::uint64_t journal = 0;
    std::uint64_t directory =
        0;  // Deletions that asked for it; a new file's sync is not counted twice.
    [[nodiscard]] std::uint64_t total() const { return database + wal + journal + directory; }
    bool operator==(const sync_counts&) const = default;
};

/// The disk of one simulated machine: a SQLite VFS in memory that can lose its power.
///
/// What was synced survives a cut. Of the rest, each 512-byte sector survives as it was after some
/// prefix of the writes to it, chosen by the seed; lengths, creations and deletions likewise. Open
/// with `sqlite3_open_v2(path, &db, flags, disk.vfs_name())`; paths are flat, or have folders that
/// need no making. The same seed and the same calls give the same bytes, once `seed_sqlite()` has
/// fixed what SQLite itself draws.
///
/// Lifetime: outlives its connections; the destructor asserts that all are closed.
/// Threads:  every member may be called from any thread. Clones belong to the thread that took
/// them. Cancel:   none; no call waits.
class fault_disk {
public:
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    /// The fate of unsynced changes at a cut.
    enum class unsynced : std::uint8_t { chosen_by_seed, dropped, kept };

    explicit fault_disk(std::uint64_t seed);
    ~fault_disk();
    fault_disk(const fault_disk&) = delete;
    fault_disk& operator=(const fault_disk&) = delete;

    /// Unique in the process; valid as long as the disk.
    [[nodiscard]] const char* vfs_name() const;

    /// Fixes SQLite's own generator (WAL salts, `random()`), which the whole process shares.
    static void seed_sqlite(std::uint32_t seed);

    // Power. An operation is a write, truncation, sync or deletion of a named file.

    /// Lets `count` more operations succeed. The next one fails half done, and so does every call
    /// after it until `restore_power()`.
    void cut_after_operations(std::uint64_t count);
    void cut_now();

    /// Settles what survived. Cuts the power first if that was still on. Handles that were open
    /// stay dead: their connections can only be closed.
    void restore_power(unsynced fate = unsynced::chosen_by_seed);

    /// One process's own way to the disk, so that it can die alone: its handles and locks go, no
    /// byte is lost, and it opens nothing any more. Outlives the connections made through it.
    class user {
    public:
        ~user();
        user(const user&) = delete;
        user& operator=(const user&) = delete;
        [[nodiscard]] const char* vfs_name() const;
        void kill();
        /// Killed, or the power went, or every process was killed.
        [[nodiscard]] bool is_dead() const;

    private:
        friend class fault_disk;
        explicit user(faults::disk_state& state);
        faults::disk_state& state_;
        std::unique_ptr<faults::vfs_registration> vfs_;
    };
    [[nodiscard]] std::unique_ptr<user> add_user();

    /// Lets `count` more operations succeed. Whoever makes the next one dies of it: a write, a
    /// truncation and a deletion are done, a sync is not. Only handles die, so a connection opened
    /// later lives, unless it is a dead user's.
    void kill_after_operations(std::uint64_t count);

    /// Every process dies, as by `kill -9`: handles, locks and shared memory go, no byte is lost.
    void kill_processes();

    [[nodiscard]] bool powered() const;
    [[nodiscard]] std::uint64_t operations() const;
    [[nodiscard]] sync_counts syncs() const;
    [[nodiscard]] std::uint64_t cuts() const;
    [[nodiscard]] std::uint64_t kills() const;

    // Faults.

    /// The next syncs return SQLITE_IOERR_FSYNC. What they were to save stays readable, yet no
    /// later sync saves it, as with Linux's page cache. Every other handle that has the file open
    /// gets the same answer to its next sync.
    void fail_next_syncs(std::uint64_t count = 1);

    /// A write that would take all files together past this returns SQLITE_FULL.
    void set_capacity(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t bytes_used() const;

    /// Lost sectors may hold noise in place of old bytes, only where they were being written.
    void leave_garbage(bool on);

    /// Changes every byte of the range, durably and unnoticed. Reopen to see it: SQLite caches.
    void corrupt(const std::string& path, std::uint64_t offset, std::uint64_t length);
    void overwrite(const std::string& path, std::uint64_t offset, std::span<const std::byte> bytes);

    // Files, past SQLite. Reading one that does not exist throws std::out_of_range.

    [[nodiscard]] bool exists(const std::string& path) const;
    [[nodiscard]] std::vector<std::string> paths() const;
    [[nodiscard]] std::vector<std::byte> contents(const std::string& path) const;

    /// What survives for certain; empty for a file whose creation is not durable.
    [[nodiscard]] std::vector<std::byte> durable_contents(const std::string& path) const;

    /// Creates or replaces a file, durably.
    void put(const std::string& path, std::span<const std::byte> bytes);

    /// Durably; nothing if it is not there.
    void remove(const std::string& path);

    /// Another disk, with what is certain to survive a cut at this moment, and nothing else.
    /// Costs little: pages are shared until written.
    [[nodiscard]] std::unique_ptr<fault_disk> clone_durable() const;

    // Time, as SQLite sees it: Unix milliseconds. By default it stands still but for sleeps.

    void set_clock(std::function<std::int64_t()> now);

    /// Called without a lock when SQLite would sleep (busy time-outs), with microseconds. Tests
    /// with threads yield here, for otherwise a busy time-out of seconds passes in no time.
    void on_sleep(std::function<void(int)> hook);

private:
    explicit fault_disk(std::unique_ptr<faults::disk_state> state);

    std::unique_ptr<faults::disk_state> state_;
    std::unique_ptr<faults::vfs_registration> vfs_;
};

}  // namespace posthorn
