#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "security/key_ring.hpp"

namespace posthorn {

/// The key ring of each peer, exchanged as a whole when the configuration is read again.
///
/// Threads: any.
class peer_keys {
public:
    using rings = std::map<std::string, std::shared_ptr<const key_ring>, std::less<>>;

    peer_keys() = default;
    explicit peer_keys(rings of_peers) { replace(std::move(of_peers)); }

    /// Null if there is no secret for the peer.
    [[nodiscard]] std::shared_ptr<const key_ring> find(std::string_view peer) const {
        const std::lock_guard lock(mutex_);
        const auto found = rings_.find(peer);
        return found == rings_.end() ? nullptr : found->second;
    }
    /// The peers that sign in a scheme, for requests that do not say whom they are from.
    [[nodiscard]] std::vector<rings::value_type> of_scheme(signature_scheme scheme) const {
        const std::lock_guard lock(mutex_);
        std::vector<rings::value_type> found;
        for (const auto& each : rings_)
            if (each.second->scheme() == scheme) found.push_back(each);
        return found;
    }
    /// Whether some peer signs otherwise than with v2; unless one does, what is unsigned is not
    /// even looked at.
    [[nodiscard]] bool has_legacy() const {
        const std::lock_guard lock(mutex_);
        return has_legacy_;
    }
    [[nodiscard]] rings all() const {
        const std::lock_guard lock(mutex_);
        return rings_;
    }
    void replace(rings of_peers) {
        const std::lock_guard lock(mutex_);
        rings_ = std::move(of_peers);
        has_legacy_ = std::ranges::any_of(
            rings_, [](const auto& each) { return each.second->scheme() != signature_scheme::v2; });
    }

private:
    mutable std::mutex mutex_;
    rings rings_;
    bool has_legacy_ = false;
};

}  // namespace posthorn
