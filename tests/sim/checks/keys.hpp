#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "security/ring_file.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn::sim {

/// In every secret and every payload; never in a log line or an error text.
inline constexpr std::string_view secret_canary = "canary-secret";
inline constexpr std::string_view payload_canary = "canary-payload";

/// A secret that a log would show, were it ever written.
[[nodiscard]] secret draw_secret(random_source& dice);
/// All the ways in which a canary would show: as it is, in base64, in hexadecimal.
[[nodiscard]] bool shows_canary(std::string_view text);

/// The key files of one machine, one for each peer, and the rings that its nodes have read.
///
/// Lifetime: outlives the machine's nodes.
/// Threads:  one.
class key_cabinet {
public:
    [[nodiscard]] const peer_keys& rings() const noexcept { return rings_; }
    [[nodiscard]] const ring_file& file_of(const std::string& peer) const {
        return files_.at(peer);
    }
    /// Puts a file in its place, and has it read.
    void install(const std::string& peer, ring_file file);

private:
    std::map<std::string, ring_file> files_;
    peer_keys rings_;
};

}  // namespace posthorn::sim
