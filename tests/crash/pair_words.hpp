#pragma once

#include <cstdint>
#include <string>

namespace posthorn::crash {

/// What must never show in a log or in what a command prints.
inline constexpr auto canary_payload = "canary-of-a-payload-5e1f";
inline constexpr auto canary_secret = "Y2FuYXJ5LW9mLWEtc2VjcmV0LTlkMjctMDEyMzQ1Ng==";
inline constexpr auto canary_secret_bytes = "canary-of-a-secret-9d27";

/// Of four links in a row three have an order key, each another.
inline constexpr std::int64_t keys_and_none = 4;
[[nodiscard]] inline std::string key_of(std::int64_t link) {
    return link % keys_and_none == 0 ? "" : "key " + std::to_string(link % keys_and_none);
}

}  // namespace posthorn::crash
