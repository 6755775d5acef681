#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace posthorn {

inline constexpr std::size_t secret_bytes_min = 16;

/// Bytes that must not be shown. Nothing here turns them into text, and they are wiped when it
/// goes.
///
/// Threads: any, unless it is being assigned to.
class secret {
public:
    secret() = default;
    explicit secret(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
    ~secret();
    secret(const secret&) = default;
    secret(secret&&) noexcept = default;
    secret& operator=(const secret& other);
    secret& operator=(secret&& other) noexcept;

    /// From base64, with or without `base64:` before it; `error_code::secret_unavailable`, which
    /// quotes nothing, if it is none or is too short.
    [[nodiscard]] static result<secret> parse(std::string_view base64);

    [[nodiscard]] std::span<const std::byte> reveal() const noexcept { return bytes_; }
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

private:
    void wipe() noexcept;

    std::vector<std::byte> bytes_;
};

}  // namespace posthorn
