#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"
#include "security/signature.hpp"

namespace posthorn {

inline constexpr std::string_view receive_path = "/_rf/receive";
inline constexpr std::string_view receive_batch_path = "/_rf/receive-batch";
/// What follows is the endpoint, percent-encoded.
inline constexpr std::string_view workflow_inbox_path = "/api/_workflow/inbox/";
inline constexpr std::string_view wire_content_type = "application/json";

/// One request as every transport carries it: HTTP in its headers, frames in their head.
struct wire_request {
    std::string path;
    std::string content_type{wire_content_type};
    signature_headers signature{};
    std::string traceparent{};         // Of a single message that has one.
    std::string workflow_signature{};  // `X-Workflow-Signature`, for peers that sign so.
    std::string body{};
    /// The names that the peer's certificate vouches for; nothing where none was asked for.
    std::optional<std::vector<std::string>> certified{};
};

struct wire_reply {
    std::uint16_t status = 200;
    std::string content_type{wire_content_type};
    signature_headers signature{};  // Empty where nothing could be signed.
    std::optional<std::chrono::milliseconds> retry_after{};
    std::string body{};
    bool known_caller = false;  // The request's signature was that of a peer.
};

/// A way to one peer that carries requests and brings back their replies, several at a time.
///
/// Lifetime: outlives the exchanges on it.
/// Threads:  the network executor.
/// Cancel:   gives `error_code::cancelled`; the peer may have taken the request nevertheless.
class wire_channel {
public:
    virtual ~wire_channel() = default;

    /// `error_code::unreachable` if there is no reply; whether the peer took it is then not known.
    virtual task<result<wire_reply>> exchange(wire_request request) = 0;
};

}  // namespace posthorn
