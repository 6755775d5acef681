#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "standby/door/introduction.hpp"
#include "standby/link_channel.hpp"
#include "transport/link/link_lobby.hpp"
#include "transport/wire/log_rate_limit.hpp"

namespace posthorn::standby {

/// One that has proven to have the pair's key.
struct proven_primary {
    link_socket socket;
    link_seal seal;
    link_identity who;
    steady_time since{};
};

/// Where primaries come to a standby: on a thread of its own, so that those who prove nothing hold
/// up none who does, and one that is followed holds up no refusal of another.
///
/// Lifetime: what it is given outlives it; `stop` and then the destructor.
/// Threads:  any; one calls `next`.
class primary_door {
public:
    struct parts {
        const pair_access& access;
        random_source& random;
        logger& log;
        const clock& time;
    };
    struct limits {
        link_lobby::limits lobby{};
        std::chrono::milliseconds second_waits = std::chrono::seconds{1};
    };

    primary_door(link_listener at, const parts& with, const limits& most);
    ~primary_door();
    primary_door(const primary_door&) = delete;
    primary_door& operator=(const primary_door&) = delete;

    /// The next to be followed, now that the one before has ended. Empty if none came so soon.
    std::optional<proven_primary> next(std::chrono::milliseconds at_most);
    /// That one is followed over this connection, until there is none again.
    void follows(const link_channel* over);
    void stop();
    [[nodiscard]] std::uint16_t port() const { return at_.port(); }
    /// Why the last one that came was turned away; empty if none was since one was let in.
    [[nodiscard]] std::string trouble() const;

private:
    void run();
    void refresh();
    [[nodiscard]] std::unique_ptr<link_greeting> greet();
    void take(link_lobby::arrival came);
    void offer(proven_primary one);
    void look_at_second();
    void refuse(proven_primary one);
    void note(const std::string& why);

    link_listener at_;
    const parts with_;
    const limits most_;
    log_rate_limit lines_{1};

    // Of the thread.
    key_ring keys_;
    std::optional<link_security> security_;  // Empty before it could be read once.
    std::optional<steady_time> read_at_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    std::optional<proven_primary> waiting_;
    std::optional<run_id> followed_;
    const link_channel* over_ = nullptr;
    std::string trouble_;

    worker_threads thread_{"posthorn-door"};  // Ends before what it runs on.
};

}  // namespace posthorn::standby
