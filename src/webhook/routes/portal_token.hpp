#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "security/secret.hpp"

namespace posthorn {

/// What the holder of a token may do: see to the endpoints of one tenant.
struct portal_grant {
    std::string tenant;  // Not empty.
    bool may_write = false;
    wall_time until{};

    bool operator==(const portal_grant&) const = default;
};

/// Makes tokens for subscribers and takes them back. A token is what it grants and a signature, so
/// no node has to remember it, and each that has the key takes it.
///
/// Threads: any.
class portal_tokens {
public:
    static constexpr auto life_max = std::chrono::hours{24};

    /// The key that seals secrets; tokens are signed with one that follows from it.
    explicit portal_tokens(const secret& key);

    [[nodiscard]] std::string mint(const portal_grant& what) const;
    /// Empty if it was not made here, was changed, or its time is over.
    [[nodiscard]] std::optional<portal_grant> verify(std::string_view token, wall_time now) const;

private:
    secret key_;
};

}  // namespace posthorn
