#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

namespace posthorn {

using sha256_digest = std::array<std::byte, 32>;

/// Computes SHA-256 over what is added, piece by piece.
///
/// Lifetime: one object serves many digests, which saves making OpenSSL's context for each.
/// Threads:  one at a time.
class sha256 {
public:
    sha256();
    ~sha256();
    sha256(const sha256&) = delete;
    sha256& operator=(const sha256&) = delete;

    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    /// Adds the length first, as eight bytes with the lowest first, so that no two lists of fields
    /// give the same bytes.
    void add_field(std::string_view text);

    /// The digest of what was added since the last call.
    [[nodiscard]] sha256_digest finish();

private:
    class state;
    void start();

    std::unique_ptr<state> state_;  // Keeps OpenSSL out of this header.
};

/// The digest of the slices as if they were one text.
[[nodiscard]] sha256_digest sha256_of(std::initializer_list<std::string_view> slices);

}  // namespace posthorn
