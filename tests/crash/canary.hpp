#pragma once

#include <string_view>

namespace posthorn::crash {

// What nobody is to see who is not to see it: part of every payload, of every header and of every
// response, and the secret that the services share, as it is and as a configuration writes it.
inline constexpr std::string_view canary_payload = "canary-payload-4be8";
inline constexpr std::string_view canary_secret = "canary-secret-91c7-91c7-91c7-91c7";
inline constexpr std::string_view canary_secret_base64 =
    "Y2FuYXJ5LXNlY3JldC05MWM3LTkxYzctOTFjNy05MWM3";

/// Whether a text tells any of it, or most of the secret.
[[nodiscard]] inline bool tells_a_canary(std::string_view text) {
    return text.contains("canary-") || text.contains(canary_secret_base64.substr(0, 20));
}

}  // namespace posthorn::crash
