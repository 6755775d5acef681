#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/http/types.hpp"

namespace posthorn {

/// What kept a request to a stranger from being answered.
enum class guarded_trouble : std::uint8_t {
    none,         // It was answered; the status says how.
    bad_request,  // It cannot be written: a header or the URL is none.
    refused,      // The guard does not let it through.
    name,         // The host's name was not found.
    connect,      // None of its addresses takes a connection.
    proxy,        // The proxy does not lead there.
    tls,          // No TLS, or a certificate that does not vouch for the host.
    broken,       // The connection ended before the answer did.
    malformed,    // What came is not HTTP, or more than is taken of it.
    late,         // It took longer than it may.
    overloaded,   // Too many connections are in use.
    cancelled,
};

/// For a column of a table or a label of a metric.
[[nodiscard]] std::string_view to_string(guarded_trouble what) noexcept;

/// How long each step took; zero for those that a kept connection did not need.
struct guarded_phases {
    std::chrono::microseconds resolve{};
    std::chrono::microseconds connect{};
    std::chrono::microseconds tls{};
    std::chrono::microseconds
        exchange{};  // From the first byte of the request to the answer's last.
    std::chrono::microseconds whole{};
};

/// What came of a request to a stranger: always a value, whatever the other side does.
struct guarded_answer {
    guarded_trouble trouble = guarded_trouble::none;
    std::string for_operator{};    // Why it was not answered; empty if it was.
    std::string for_subscriber{};  // The same as strangers may read it.
    std::uint16_t status = 0;      // Zero where there was no answer.
    std::optional<std::string> retry_after{};
    std::optional<std::string> webhook_delivery{};
    std::string body{};      // Its first 4,000 characters, as UTF-8 throughout; or as it came.
    bool body_cut = false;   // There was more of it than is read.
    http_headers headers{};  // Its own, if `guarded_limits::verbatim`.
    std::string address{};   // Where the connection went; for operators.
    bool reused = false;     // On a connection that was kept.
    guarded_phases took{};
};

}  // namespace posthorn
