#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/fault_disk/dice.hpp"
#include "support/fault_disk/directory.hpp"
#include "support/fault_disk/fault_disk.hpp"
#include "support/fault_disk/locks.hpp"

namespace posthorn::faults {

enum class file_kind : std::uint8_t { database, wal, journal, scratch };

/// One open file of one connection.
struct open_handle {
    directory::file_ptr file;
    std::string path;  // Empty for scratch files, which no cut concerns.
    file_kind kind = file_kind::scratch;
    bool read_only = false;
    bool delete_on_close = false;
    int persist_wal = 0;
    std::uint64_t generation = 0;
    std::uint64_t user = 0;
    std::uint64_t failures_told = 0;  // Of syncs of its file.
    bool is_orphan = false;           // Its user died.
    held_locks locks;
    std::shared_ptr<shared_memory> shm;
};

/// All of a disk but its registration with SQLite: files, power, counters, time.
///
/// Functions that the VFS calls return SQLite's result codes.
/// Threads: one mutex guards everything; hooks run outside it.
class disk_state {
public:
    explicit disk_state(std::uint64_t seed) : seed_(seed), random_(seed) {}

    // For the VFS.
    int open(std::uint64_t user, const char* path, int flags, std::unique_ptr<open_handle>& into);
    void close(open_handle& handle);
    int remove(std::uint64_t user, const std::string& path, bool sync_directory);
    int rename(std::uint64_t user, const std::string& from, const std::string& to);
    int access(const std::string& path, bool& found);

    int read(open_handle& handle, std::uint64_t offset, std::span<std::byte> into);
    int write(open_handle& handle, std::uint64_t offset, std::span<const std::byte> bytes);
    int truncate(open_handle& handle, std::uint64_t size);
    int sync(open_handle& handle);
    int size(open_handle& handle, std::uint64_t& into);

    int lock(open_handle& handle, int level);
    int unlock(open_handle& handle, int level);
    int check_reserved(open_handle& handle, bool& reserved);
    bool has_moved(open_handle& handle);
    int map_shm(open_handle& handle, std::size_t index, std::size_t size, bool make,
                void volatile** into);
    int lock_shm(open_handle& handle, int first, int count, int flags);
    void unmap_shm(open_handle& handle);
    void barrier() { const std::lock_guard guard(mutex_); }

    void randomness(std::span<std::byte> into);
    void sleep(int microseconds);
    std::int64_t unix_ms();

    // For the tests, as fault_disk says.
    void cut_after_operations(std::uint64_t count);
    void cut_now();
    void restore_power(fault_disk::unsynced fate);
    void kill_processes();
    void kill_after_operations(std::uint64_t count);
    std::uint64_t add_user();
    void kill_user(std::uint64_t user);
    bool is_dead(std::uint64_t user);
    std::uint64_t kills();
    bool powered();
    std::uint64_t operations();
    std::uint64_t cuts();
    sync_counts syncs();
    void fail_next_syncs(std::uint64_t count);
    void set_capacity(std::uint64_t bytes);
    std::uint64_t bytes_used();
    void leave_garbage(bool on);
    void corrupt(const std::string& path, std::uint64_t offset, std::uint64_t length);
    void overwrite(const std::string& path, std::uint64_t offset, std::span<const std::byte> bytes);
    bool exists(const std::string& path);
    std::vector<std::string> paths();
    std::vector<std::byte> contents(const std::string& path);
    std::vector<std::byte> durable_contents(const std::string& path);
    void put(const std::string& path, std::span<const std::byte> bytes);
    void remove_file(const std::string& path);
    std::unique_ptr<disk_state> clone_durable();
    void set_clock(std::function<std::int64_t()> now);
    void on_sleep(std::function<void(int)> hook);
    std::uint64_t open_handles();

private:
    [[nodiscard]] bool alive(const open_handle& handle) const;
    bool spend_operation(std::uint64_t user);
    void cut();
    void kill(std::uint64_t user);
    void count_sync(file_kind kind);
    cut_mood next_mood(fault_disk::unsynced fate, dice& chance) const;
    directory::file_ptr existing(const std::string& path) const;

    std::mutex mutex_;
    const std::uint64_t seed_;
    dice random_;  // For xRandomness and corruption; cuts have their own.
    directory files_;

    bool powered_ = true;
    std::uint64_t generation_ = 1;                           // Handles of an older one are dead.
    std::uint64_t operations_left_ = fault_disk::unlimited;  // Until a cut.
    std::uint64_t operations_to_live_ = fault_disk::unlimited;
    std::uint64_t operations_ = 0;
    std::uint64_t cuts_ = 0;
    std::uint64_t kills_ = 0;
    std::set<open_handle*> open_;
    std::vector<std::uint64_t> users_{0};  // The generation that each belongs to.
    sync_counts syncs_;
    std::uint64_t syncs_to_fail_ = 0;
    std::uint64_t capacity_ = fault_disk::unlimited;
    bool garbage_ = false;

    std::int64_t slept_us_ = 0;
    std::function<std::int64_t()> clock_;
    std::function<void(int)> sleep_hook_;
};

}  // namespace posthorn::faults
