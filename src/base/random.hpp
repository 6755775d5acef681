#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace posthorn {

/// Where all chance comes from: the seam that lets a test or the simulator repeat a run.
///
/// Lifetime: owned by the node's builder; outlives everything that draws from it.
/// Threads:  as the implementation says.
/// Cancel:   nothing here waits.
class random_source {
public:
    random_source() = default;
    random_source(const random_source&) = delete;
    random_source& operator=(const random_source&) = delete;
    virtual ~random_source() = default;

    virtual void fill(std::span<std::byte> out) = 0;
    [[nodiscard]] virtual std::uint64_t next() = 0;

    /// Evenly one of 0 … bound - 1. `bound` is not zero.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);

    /// Evenly in [0, 1), with the 53 bits that a double holds.
    [[nodiscard]] double unit();
};

/// The operating system's randomness, fit for keys and ids. Nothing else asks the system for it.
///
/// Threads: any, at once. A process that forks may use the object on both sides: the child does not
///          repeat what the parent draws.
class system_random final : public random_source {
public:
    system_random();

    void fill(std::span<std::byte> out) override;
    [[nodiscard]] std::uint64_t next() override;

private:
    void take(std::span<std::byte> out);

    std::mutex mutex_;
    std::array<std::byte, 4096> buffer_{};  // One system call serves 512 draws.
    std::size_t left_ = 0;                  // Unused bytes, at the end of the buffer.
    std::uint32_t forks_seen_ = 0;
};

/// The same sequence for the same seed, on every machine: xoshiro256** over a splitmix64 seed.
/// Never for anything that must not be guessed.
///
/// Threads: one at a time; a shared one would not be repeatable anyhow.
class seeded_random final : public random_source {
public:
    explicit seeded_random(std::uint64_t seed);

    void fill(std::span<std::byte> out) override;
    [[nodiscard]] std::uint64_t next() override;

private:
    std::array<std::uint64_t, 4> state_;
};

}  // namespace posthorn
