#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/checks/keys.hpp"
#include "sim/process.hpp"

namespace posthorn::sim {

inline constexpr const char* database_path = "service.db";

/// One machine: a disk, a clock, and the processes of one service, which share a file.
///
/// Lifetime: emptied by `stop()` and `reap()` before it is destroyed.
/// Threads:  one.
class machine {
public:
    struct setup {
        std::string service;
        std::uint64_t seed = 0;
        std::size_t processes = 1;
        log_level level = log_level::warn;
        bool tells_the_dead = true;  // Whether a successor may know that its predecessor is dead.
        core_options options{};      // What is not the machine's own to say.
        std::optional<std::size_t> flow_cache{};  // If workflows run: the bytes that they may take.
        std::function<void(process&)> ready;
    };

    machine(const surroundings& around, setup with);

    [[nodiscard]] const std::string& service() const noexcept { return with_.service; }
    [[nodiscard]] fault_disk& disk() noexcept { return disk_; }
    [[nodiscard]] machine_clock& clock() noexcept { return clock_; }
    [[nodiscard]] key_cabinet& keys() noexcept { return keys_; }
    [[nodiscard]] std::size_t processes() const noexcept { return with_.processes; }
    /// Those that are up, or think so.
    [[nodiscard]] std::vector<process*> running();
    /// One that takes messages and transactions; null if none does.
    [[nodiscard]] process* pick(random_source& dice, bool paused_too);

    /// Starts what is missing. False if one could not be started now.
    bool boot();
    /// Why not, the last time.
    [[nodiscard]] const std::optional<error>& boot_error() const noexcept { return boot_error_; }
    /// Every process dies; with the power also what was not synced goes.
    void kill();
    void kill_one(std::size_t which);
    /// Until the next process has copied what it finds, the power had better stay on: the pages
    /// that a failed sync gave up are in no file for certain, and SQLite's checkpoint, which is to
    /// save them, trusts the log that they are missing from.
    void kill_after_failed_sync();
    [[nodiscard]] bool is_fragile() const noexcept { return fragile_; }
    /// Takes notice of those that died of a disk operation. True if there were any.
    bool bury_dead();
    void cut_power(fault_disk::unsynced fate = fault_disk::unsynced::chosen_by_seed);
    /// Takes notice of a cut that happened by itself, and of a store that has stopped itself.
    [[nodiscard]] bool has_gone_down() const;
    void stop();
    void stop_one(std::size_t which);
    /// Destroys those that have wound down.
    void reap();
    [[nodiscard]] bool is_empty() const { return running_.empty() && leaving_.empty(); }
    [[nodiscard]] bool is_whole() const { return running_.size() == with_.processes; }
    [[nodiscard]] std::uint64_t cuts() const { return disk_.cuts(); }
    /// Messages that have not come to an end; -1 if nobody can say.
    [[nodiscard]] std::int64_t pending();

    /// A producer with plain SQL puts a message into the outbox, which is visible before it is on
    /// disk: it is promised to nobody, yet if it takes effect it must stay.
    void write_foreign(const std::string& to, const std::string& order_key);

    bool is_awaited = false;  // Somebody will boot it.

private:
    void bury_all();
    [[nodiscard]] core_options options_of(const std::string& name);

    surroundings around_;
    setup with_;
    fault_disk disk_;
    machine_clock clock_;
    key_cabinet keys_;
    std::uint64_t runs_ = 0;
    std::vector<std::unique_ptr<process>> running_;
    std::vector<std::unique_ptr<process>> leaving_;
    std::optional<error> boot_error_;
    bool fragile_ = false;
    bool failed_as_it_left_ = false;  // The store of one that was told to stop.
};

}  // namespace posthorn::sim
