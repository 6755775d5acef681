#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/key_ring.hpp"

namespace posthorn {

inline constexpr std::chrono::minutes signature_window{5};  // Either way.

/// The headers of a signed request or answer, as they stand on the wire.
struct signature_headers {
    std::string scheme;  // `v2`
    std::string key;
    std::string source;
    std::string destination;
    std::string timestamp;
    std::string hmac;

    bool operator==(const signature_headers&) const = default;
};

/// What a signature covers besides its own headers. Refers to what it is made from.
struct signed_content {
    std::string_view path;
    std::string_view content_type;
    std::string_view body;
    std::string_view request_hmac{};  // Of answers: which request they answer.
    std::uint16_t status = 0;         // Of answers; zero in a request.

    [[nodiscard]] bool is_answer() const noexcept { return status != 0; }
};

/// Who speaks to whom.
struct signed_pair {
    std::string_view source;
    std::string_view destination;
};

/// Signs with the ring's key of now; `error_code::secret_unavailable` if none is in force.
[[nodiscard]] result<signature_headers> sign(const key_ring& keys, const signed_pair& who,
                                             const signed_content& what, wall_time now);

/// What can be told of a signature without what it signs: its scheme, for whom it is, its time and
/// whether its key counts. `verify` asks the same first.
[[nodiscard]] result<> check_claim(const key_ring& keys, const signed_pair& who,
                                   const signature_headers& claimed, wall_time now);

/// `error_code::bad_signature`, which says which check failed and quotes no secret. `who` is whom
/// the verifier expects: for a request, `destination` is itself and `source` as the headers claim.
[[nodiscard]] result<> verify(const key_ring& keys, const signed_pair& who,
                              const signature_headers& claimed, const signed_content& what,
                              wall_time now);

}  // namespace posthorn
