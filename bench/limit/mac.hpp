#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <openssl/evp.h>

namespace posthorn::bench {

using mac_bytes = std::array<std::uint8_t, 32>;

/// HMAC-SHA256 with one context for ever: made anew for each message it costs four times as much.
///
/// Threads: one.
class mac {
public:
    explicit mac(std::string_view key);
    ~mac();
    mac(const mac&) = delete;
    mac& operator=(const mac&) = delete;

    [[nodiscard]] mac_bytes sign(std::string_view first, std::string_view second = {});
    /// In constant time.
    [[nodiscard]] static bool equal(const mac_bytes& a, const mac_bytes& b);

private:
    EVP_MAC* kind_ = nullptr;
    EVP_MAC_CTX* state_ = nullptr;
};

}  // namespace posthorn::bench
