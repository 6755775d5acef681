#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>

#include "app/node/node_core.hpp"
#include "base/async/virtual_loop.hpp"
#include "base/trace/tracer.hpp"
#include "transport/inprocess/hub.hpp"
#include "transport/wire/peer_keys.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn::cost {

/// Runs jobs at once, or keeps them for later while it is held: so a group gathers as it does while
/// a sync is under way.
class held_executor final : public executor {
public:
    void post(job work) override;
    void rest(std::chrono::nanoseconds) override {}
    void hold() { held_ = true; }
    void let_go();

private:
    void run();

    std::deque<job> jobs_;
    bool held_ = false;
    bool running_ = false;
};

/// What the nodes are built with: nothing that could trace, a tracer that is off, or one that records
/// all.
enum class tracing_kind : std::uint8_t { none, off, on };

/// Counts how often it is read.
class counted_clock final : public clock {
public:
    explicit counted_clock(const clock& of) : of_(of) {}

    [[nodiscard]] wall_time wall() const override { return ++reads_, of_.wall(); }
    [[nodiscard]] steady_time steady() const override { return ++reads_, of_.steady(); }
    [[nodiscard]] std::int64_t reads() const noexcept { return reads_; }

private:
    const clock& of_;
    mutable std::int64_t reads_ = 0;
};

/// Two nodes that do the same work in the same order each time: orders sends, billing handles, both
/// in this thread on virtual time. Everything is real but sockets and threads: the store on its
/// file, envelopes, signatures, the inbox.
///
/// Lifetime: stops its nodes when it ends.
/// Threads:  one.
class quiet_pair {
public:
    explicit quiet_pair(const std::filesystem::path& folder, tracing_kind how = tracing_kind::none);
    ~quiet_pair();
    quiet_pair(const quiet_pair&) = delete;
    quiet_pair& operator=(const quiet_pair&) = delete;

    /// Commits so many transactions together, a row and a message of 256 bytes each, and returns
    /// when all have taken effect. They are marked as sent along with the next ones.
    void send(std::size_t together);
    /// Commits a row, with a message or without, and returns when it is durable. The message is on
    /// its way then and not yet there.
    void write(bool with_message);
    /// A handle of another program stores a message; returns when it has taken effect.
    void send_from_another_handle();
    /// The virtual time since the last of these began.
    [[nodiscard]] std::chrono::milliseconds waited();
    [[nodiscard]] std::size_t effects() const noexcept { return effects_; }
    /// How often tracing has read the clock.
    [[nodiscard]] std::int64_t clock_reads() const noexcept { return trace_clock_.reads(); }

private:
    class half;

    void run_until(const std::function<bool()>& condition);

    virtual_loop loop_;
    seeded_random random_{1};
    counted_clock trace_clock_{loop_.time()};
    tracer traces_{trace_clock_, random_};
    tracing_kind how_;
    peer_keys keys_;
    std::unique_ptr<half> billing_;
    std::unique_ptr<half> orders_;
    std::string payload_;
    std::filesystem::path folder_;
    steady_time begun_{};
    std::size_t wanted_ = 0;  // Effects of what was sent so far.
    std::size_t effects_ = 0;
};

}  // namespace posthorn::cost
