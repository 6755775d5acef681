#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/async/executor.hpp"

namespace posthorn {

/// Writes lines to a pipe, a socket or a terminal, and never waits for the reader.
///
/// What finds no room is kept, up to a limit, and goes out as soon as there is room again; beyond
/// it lines are dropped, and a line in their place says how many. The descriptor's own mode stays
/// as it is, since other processes share it.
///
/// Lifetime: the descriptor outlives it. What is still kept at the end gets a second.
/// Threads:  any, at once; `tell` may be called on a thread of its own.
class log_stream {
public:
    /// The line that says how many were dropped.
    using report = std::function<std::string(std::uint64_t dropped)>;

    static constexpr std::size_t kept_max_default = 64 * 1024;

    log_stream(int descriptor, report tell, std::size_t kept_max = kept_max_default);
    ~log_stream();
    log_stream(const log_stream&) = delete;
    log_stream& operator=(const log_stream&) = delete;

    /// A line without its end.
    void write(std::string_view line);

    /// Whether a write there may have to wait; one to a file has not.
    [[nodiscard]] static bool may_wait(int descriptor);

private:
    [[nodiscard]] int target() const { return own_ >= 0 ? own_ : descriptor_; }
    [[nodiscard]] bool has_room(std::chrono::milliseconds limit) const;
    [[nodiscard]] std::string_view next_piece() const;
    void push();
    void drain();

    int descriptor_;
    int own_ = -1;  // The same pipe or terminal opened once more, in a mode of its own.
    report tell_;
    std::size_t kept_max_;
    std::mutex mutex_;
    std::string kept_;           // Not written yet.
    std::uint64_t dropped_ = 0;  // After what is kept.
    bool draining_ = false;
    std::atomic<bool> stopping_ = false;
    std::unique_ptr<worker_threads> drainer_;  // Only once it was needed.
};

}  // namespace posthorn
