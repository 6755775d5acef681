#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace posthorn::measure {

/// Memory that the sending and the receiving process share: when each message was due, durable and
/// effective, and how the receiver is.
///
/// It costs the receiver one store a message and, where the sender waits, one wake-up a commit.
///
/// Lifetime: the sender makes it, before the receiver, which opens it by its path.
/// Threads:  any, of both processes.
class board {
public:
    /// Of the last so many messages the times are kept.
    static constexpr std::size_t kept_max = std::size_t{1} << 20U;

    enum class receiver_state : std::uint32_t { starting, ready, ended, failed };

    board();
    explicit board(const std::string& path);
    ~board();
    board(const board&) = delete;
    board& operator=(const board&) = delete;

    /// Leads to it while this process lives.
    [[nodiscard]] std::string path() const;

    // The sender's.
    void begin(std::uint64_t index, std::int64_t due_ns) noexcept;
    void committed(std::uint64_t index) noexcept;
    /// False if it takes longer than that.
    [[nodiscard]] bool wait_effects(std::uint64_t count, std::int64_t until_ns) noexcept;
    [[nodiscard]] bool wait_ready(std::int64_t until_ns) noexcept;
    void ask_to_stop() noexcept;

    // The receiver's.
    /// Their effects are on disk now.
    void effect(std::span<const std::uint64_t> indexes) noexcept;
    void add_syncs(std::uint64_t count) noexcept;
    void set_rows(std::uint64_t rows) noexcept;
    void set_state(receiver_state now, std::string_view text = {}) noexcept;
    [[nodiscard]] bool must_stop() const noexcept;

    // Both.
    [[nodiscard]] std::uint64_t effects() const noexcept;
    [[nodiscard]] std::uint64_t doubled() const noexcept;
    [[nodiscard]] std::int64_t last_effect_ns() const noexcept;
    [[nodiscard]] std::uint64_t receiver_syncs() const noexcept;
    /// What the receiver's business table holds at the end.
    [[nodiscard]] std::uint64_t rows() const noexcept;
    [[nodiscard]] receiver_state state() const noexcept;
    /// Where the receiver listens, or why it failed.
    [[nodiscard]] std::string text() const;

    struct times {
        std::int64_t due_ns = 0;
        std::int64_t committed_ns = 0;
        std::int64_t effect_ns = 0;
    };
    [[nodiscard]] times of(std::uint64_t index) const noexcept;

private:
    struct memory;
    void map();

    int file_ = -1;
    memory* memory_ = nullptr;
};

}  // namespace posthorn::measure
