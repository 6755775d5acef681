#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/executor.hpp"
#include "base/log/log.hpp"
#include "base/time/clock.hpp"
#include "standby/door/pair_access.hpp"
#include "standby/kept_copy.hpp"
#include "transport/link/link_place.hpp"

namespace posthorn::standby {

struct follower_options {
    link_place listen{};
    pair_access access{};
    std::string service{};  // Whose standby it is; any one's if it is empty.
    bool can_lead = false;  // It serves once the primary gives it its role.
    /// A primary asks more often than this, even when nothing is written.
    std::chrono::milliseconds patience = std::chrono::seconds{3};
    std::size_t strangers_max = 16;  // That have not shown that they have the key.
};

/// Why a standby is one no longer.
enum class follow_end : std::uint8_t {
    stopped,    // It was asked to.
    has_role,   // The primary has given it its role.
    took_back,  // It was the primary, and the other one did not take its role.
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

/// Takes what a primary ships, one primary at a time, and answers once it is on the disk. Those who
/// come and do not show that they have the key hold up none.
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
    result<follow_end> run();
    void stop();
    /// Of one that gave its role away: it was not taken, and `run` ends so. Nothing to do for
    /// another.
    result<> take_back();
    /// The same, where it was.
    result<> follow_on(std::uint64_t epoch);
    [[nodiscard]] follow_report report() const;

private:
    struct shared;

    explicit follower(std::unique_ptr<shared> own);

    std::unique_ptr<shared> own_;
};

}  // namespace posthorn::standby
