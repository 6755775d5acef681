#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "transport/transport.hpp"

namespace posthorn {

/// Whether a destination answered when it was last tried, and since when that is so.
struct peer_state {
    std::string destination;
    bool reachable = false;
    wall_time since{};

    bool operator==(const peer_state&) const = default;
};

/// Whether what came back shows that a peer is there. Pure.
[[nodiscard]] bool shows_a_peer(std::span<const delivery> answers);
/// Whether some of it shows that a stranger's server does its work: it took a message, refused one
/// for good, or asks to wait. Pure.
[[nodiscard]] bool shows_success(std::span<const delivery> answers);

/// Which destinations answer, for people and their tools; at most a thousand are known.
///
/// Threads: any.
class reachability {
public:
    void note(std::string_view destination, bool reachable, wall_time now);
    /// In the order of their names.
    [[nodiscard]] std::vector<peer_state> list() const;

private:
    struct entry {
        bool reachable = false;
        wall_time since{};
    };

    mutable std::mutex mutex_;
    std::map<std::string, entry, std::less<>> peers_;
};

}  // namespace posthorn
