#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "security/digest.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// Who is signed in with a browser. A session is 32 random bytes, of which only the hash is kept,
/// and in memory alone: a node that is started anew knows none.
///
/// Lifetime: outlives the routes that ask it; clock and random source outlive it.
/// Threads:  any.
class admin_sessions {
public:
    static constexpr std::chrono::hours lasts{8};
    static constexpr std::size_t sessions_max = 1000;

    struct session {
        sha256_digest key{};  // The hash of the key that opened it.
        std::string csrf;     // What a change must bring beside the cookie.
        wall_time until{};
    };
    struct opened {
        std::string token;  // For the cookie. Shown once.
        session about;
    };

    admin_sessions(random_source& random, const clock& time);

    /// If there are too many, the oldest ends.
    [[nodiscard]] opened open(const sha256_digest& key);
    [[nodiscard]] std::optional<session> find(std::string_view token) const;
    void close(std::string_view token);
    /// The others end, since their keys are not known any more.
    void keep_those_of(const std::function<bool(const sha256_digest& key)>& is_known);

    /// For people whom a proxy names, who have no session: the same until the node ends.
    [[nodiscard]] std::string csrf_of(std::string_view user) const;

private:
    struct kept {
        session about;
        steady_time opened;
    };

    random_source& random_;
    const clock& time_;
    secret own_;
    mutable std::mutex mutex_;
    std::map<sha256_digest, kept> all_;  // By the hash of their tokens.
};

}  // namespace posthorn
