#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "feature/admin_route.hpp"
#include "security/digest.hpp"

namespace posthorn {

/// A key as it is stored: its holder alone has the key itself.
struct admin_key {
    std::string name;  // Who holds it; the audit shows it.
    admin_role role = admin_role::viewer;
    sha256_digest hash{};
    bool payloads = false;  // The right to read payloads.
};

/// `sha256:` and 64 hexadecimal digits; empty for anything else.
[[nodiscard]] std::optional<sha256_digest> parse_key_hash(std::string_view text) noexcept;

/// A new key and what to store of it.
struct new_admin_key {
    std::string key;   // `phk_` and 32 random bytes in base64url. Shown once.
    std::string hash;  // As `parse_key_hash` reads it.
};
[[nodiscard]] new_admin_key make_admin_key(random_source& random);

/// Why a caller was not let in.
struct admin_refusal {
    std::uint16_t status = 401;  // Or 403, where another key would not help or this one is known.
    std::string who;             // The key's name, if it is known.
    std::string why;             // For the caller; quotes nothing of the key.
};

/// Decides who may do what on the admin listener, by these rules:
///
/// | asks to          | loopback, no key configured | otherwise                      |
/// |------------------|-----------------------------|--------------------------------|
/// | look             | let in                      | any viewer's or operator's key |
/// | take from queues | a worker's or operator's    | likewise                       |
/// | change           | an operator's               | likewise                       |
///
/// A browser's request from another page is refused whatever key it has; so is one without a key
/// that calls this machine by a foreign name.
///
/// Lifetime: outlives the routes that ask it.
/// Threads:  any.
class admin_access {
public:
    struct options {
        bool loopback = false;  // The listener is bound to a loopback address.
        std::vector<admin_key> keys{};
    };

    explicit admin_access(options rules);

    [[nodiscard]] std::expected<admin_caller, admin_refusal> admit(const http_request& request,
                                                                   admin_role needed) const;
    /// All keys that count now.
    [[nodiscard]] std::vector<admin_key> known() const { return *keys(); }
    /// New keys count from the next request on.
    void replace(std::vector<admin_key> keys);

private:
    using key_list = std::shared_ptr<const std::vector<admin_key>>;
    [[nodiscard]] key_list keys() const;

    bool loopback_;
    mutable std::mutex mutex_;
    key_list keys_;
};

}  // namespace posthorn
