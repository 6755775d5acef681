#pragma once

namespace posthorn::crash {

/// What must never show in a log or in what a command prints.
inline constexpr auto canary_payload = "canary-of-a-payload-5e1f";
inline constexpr auto canary_secret = "Y2FuYXJ5LW9mLWEtc2VjcmV0LTlkMjctMDEyMzQ1Ng==";
inline constexpr auto canary_secret_bytes = "canary-of-a-secret-9d27";

}  // namespace posthorn::crash
