#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "standby/kept_copy.hpp"
#include "standby/link_channel.hpp"

namespace posthorn::standby {

struct follower_options {
    host_port listen;
    secret pair_key;
    /// A primary asks more often than this, even when nothing is written.
    std::chrono::milliseconds patience = std::chrono::seconds{3};
};

/// How a standby is.
struct follow_report {
    pair_state state{};
    log_place at{};
    bool has_primary = false;                               // It is there now.
    std::string service{};                                  // Its, or that of the last one.
    std::optional<std::chrono::milliseconds> silent_for{};  // Empty before any has come.
    std::string trouble{};  // Why the last one went, or was not taken.
};

/// Takes what a primary ships, one primary at a time, and answers once it is on the disk.
///
/// Lifetime: `open`, `run` once. What it is given outlives it.
/// Threads:  that of `run`; `stop` from any. Folds run on the executor.
/// Cancel:   `stop`; what was not answered may be there or not.
class follower {
public:
    struct parts {
        kept_copy& copy;
        executor& folds;
        random_source& random;
        logger& log;
        const clock& time;
    };
    static result<follower> open(const follower_options& options, const parts& with);
    ~follower();
    follower(follower&&) noexcept;
    follower& operator=(follower&&) = delete;
    follower(const follower&) = delete;
    follower& operator=(const follower&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    /// Until `stop`, or until the disk fails: after a failed sync nothing that is there can be
    /// trusted before a restart has read it again.
    result<> run();
    void stop();
    [[nodiscard]] follow_report report() const;

private:
    class session;
    struct shared;

    explicit follower(std::unique_ptr<shared> own);

    std::unique_ptr<shared> own_;
};

}  // namespace posthorn::standby
