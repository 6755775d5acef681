#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "support/fault_disk/dice.hpp"
#include "support/fault_disk/locks.hpp"
#include "support/fault_disk/paged_bytes.hpp"

namespace posthorn::faults {

/// What one power cut does to writes that no sync has made safe.
struct cut_mood {
    enum class kind : std::uint8_t { drops_all, keeps_all, mixes };
    kind what = kind::mixes;
    std::uint64_t keep_percent = 50;  // For each sector, where `what` is mixes.
    bool garbage = false;  // Some of the lost sectors hold noise where they were written.
};

/// One file: what its readers see, what a power cut leaves, and the changes between the two.
///
/// A sector (512 bytes) survives a cut as it was after some prefix of the changes made to it, each
/// sector for itself; bytes that no change touched keep their durable value. That is the page cache
/// of an operating system above a drive that writes sectors whole and in any order. The length
/// survives apart, as a file system's journal has it: a file may have grown by zeros, or data lie
/// past its end; a truncation happened to all of the file or to none.
class disk_file {
public:
    static constexpr std::size_t sector_size = 512;

    [[nodiscard]] std::uint64_t size() const { return current_.size(); }
    std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    void truncate(std::uint64_t size);
    void sync();

    /// A sync that failed: as on Linux, the changes so far are still read but count as written, so
    /// that no later sync saves a page unless it is written again.
    void abandon_pending();
    [[nodiscard]] std::uint64_t failed_syncs() const { return failed_syncs_; }

    void lose_power(dice& chance, const cut_mood& mood);

    /// Decay: changes readable and durable bytes at once.
    void damage(std::uint64_t offset, std::span<const std::byte> bytes);
    void replace(std::span<const std::byte> bytes);

    [[nodiscard]] const paged_bytes& current() const { return current_; }
    [[nodiscard]] const paged_bytes& durable() const { return durable_; }

    /// A new file with the durable bytes alone.
    [[nodiscard]] std::shared_ptr<disk_file> durable_copy() const;

    /// Every process that had the file open is gone.
    void forget_handles();
    file_locks& locks() { return locks_; }
    std::shared_ptr<shared_memory> map_shared_memory();
    void forget_shared_memory() { shm_.reset(); }

private:
    struct change {
        std::size_t begin = 0;  // Within its page.
        std::size_t end = 0;
        std::vector<std::byte> bytes{};  // Empty where a truncation cut them off.
        std::size_t truncation = 0;      // Then which of the sizes, counted from one, did it.
        bool abandoned = false;
    };
    using changes = std::vector<change>;

    void note(std::uint64_t begin, std::uint64_t end, std::span<const std::byte> bytes);
    void note_size();
    [[nodiscard]] static std::span<const change* const> survivors(
        std::span<const change* const> touching, std::size_t sizes_kept, dice& chance,
        const cut_mood& mood);
    [[nodiscard]] static change noise_for(const change& lost, dice& chance);
    static void apply(const change& made, std::span<std::byte> bytes, std::size_t at);

    paged_bytes current_;
    paged_bytes durable_;
    std::map<std::uint64_t, changes> pending_;  // By page, each in the order of writing.
    std::uint64_t failed_syncs_ = 0;
    std::vector<std::uint64_t> sizes_;  // Since the last sync, in order.
    file_locks locks_;
    std::weak_ptr<shared_memory> shm_;
};

}  // namespace posthorn::faults
