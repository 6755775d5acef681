#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "measure/board.hpp"
#include "measure/usage.hpp"

namespace posthorn::measure {

/// How messages come.
enum class load_mode : std::uint8_t {
    concurrent,  // Many senders, each with its next message once the last one is durable.
    serial,      // One sender, each message durable and effective before the next.
    rate,        // At times that are set beforehand, whatever became of the ones before.
};

[[nodiscard]] std::string_view to_string(load_mode mode) noexcept;
[[nodiscard]] std::optional<load_mode> parse_load_mode(std::string_view text) noexcept;

struct load {
    load_mode mode = load_mode::concurrent;
    int senders = 64;
    /// Senders that are called back, rather than threads that wait.
    bool chained = false;
    double seconds = 5;
    double warm_up_seconds = 1;
    double rate = 200;  // Messages a second, of `load_mode::rate`.
};

/// What is measured: the sending end of one way to bring messages to another process.
///
/// Threads: `send` and `post` any; the rest the one that measures.
class sender {
public:
    virtual ~sender() = default;

    /// Returns when the message, and the business row that caused it, are durable.
    virtual void send(std::uint64_t index) = 0;
    /// The same, for chained senders; `done` is called then.
    virtual void post(std::uint64_t index, std::function<void()> done) = 0;
    /// Returns when nothing is left to be done for what was sent and has taken effect.
    virtual void wait_settled() {}
    [[nodiscard]] virtual usage used() = 0;
};

struct percentiles {
    double p10_us = 0;  // What is seen of it on a machine that others use too.
    double p50_us = 0;
    double p99_us = 0;
    double p999_us = 0;
};

/// Of times in nanoseconds, which it sorts.
[[nodiscard]] percentiles percentiles_of(std::vector<std::int64_t>& values);

struct outcome {
    load with{};
    std::uint64_t messages = 0;
    std::uint64_t all_messages = 0;  // Those of the warm-up too.
    double per_second = 0;           // Until the last one had taken effect.
    percentiles to_effect{};         // Since it was due.
    percentiles to_commit{};         // Since it was due, until it was durable at the sender.
    percentiles commit_to_effect{};
    /// Since it was due, until it was durable and effective: some servers deliver before they sync.
    percentiles to_both{};
    double cpu_us = 0;  // A message, as all that follows but the memory.
    double syncs = -1;
    double file_bytes = 0;
    double settle_ms = 0;  // After the last effect, in all.
    std::int64_t memory_kib = 0;
};

/// Warms up, measures, and waits until everything is settled. Throws what a sender throws, and if
/// messages do not take effect, or twice.
///
/// `tell` is called now and then with the part that is done; what it throws ends the run.
[[nodiscard]] outcome run_load(const load& what, sender& from, board& shared,
                               const std::function<void(double part)>& tell = {});

}  // namespace posthorn::measure
