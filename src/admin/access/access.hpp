#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/access/sessions.hpp"
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
    admin_rights rights{};
    std::optional<wall_time> made{};  // When, if its row says so.
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
    /// Or 403, where another key would not help or this one is known; or 429 after too many.
    std::uint16_t status = 401;
    std::string who;  // The key's name, if it is known.
    std::string why;  // For the caller; quotes nothing of the key.
};

/// A proxy before the listener that signs people in.
struct admin_proxy {
    struct user {
        std::string name;  // `*` is everyone whom no other row names.
        admin_role role = admin_role::viewer;
        admin_rights rights{};
    };

    std::optional<sha256_digest>
        secret{};               // Of what it shows; nothing it says is believed without.
    std::string user_header{};  // Where it names the person; empty if it does not.
    std::vector<user> users{};
};

/// Where the proxy shows its secret.
inline constexpr std::string_view proxy_secret_header = "X-Posthorn-Proxy-Secret";
/// What a change must bring where a browser shows by itself who asks.
inline constexpr std::string_view csrf_header = "X-Posthorn-CSRF";

/// Why a page of another origin gets no answer; nothing for other requests.
[[nodiscard]] std::optional<admin_refusal> refuse_foreign_page(const http_request& request);

/// Decides who may do what on the admin listener, by these rules:
///
/// | asks to          | loopback, no key configured | otherwise                      |
/// |------------------|-----------------------------|--------------------------------|
/// | look             | let in                      | any viewer's or operator's key |
/// | take from queues | a worker's or operator's    | likewise                       |
/// | change           | an operator's               | likewise                       |
///
/// A key is shown in `Authorization`, or by the cookie of a session that it opened, which ends with
/// the key. A trusted proxy can name the person instead. With the latter two, which a browser sends
/// by itself, all but looking needs the caller's token in `csrf_header` too.
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
        admin_proxy proxy{};
        admin_sessions* sessions = nullptr;  // None, if browsers cannot sign in. Outlives it.
        /// Cookies do not tell the ports of a machine apart, so that each listener has its own.
        std::string cookie_name = "posthorn_session";
    };

    explicit admin_access(options rules);

    /// Of any role, if none is needed.
    [[nodiscard]] std::expected<admin_caller, admin_refusal> admit(
        const http_request& request, std::optional<admin_role> needed) const;
    /// New keys count from the next request on, and sessions of keys that are gone end.
    void replace(std::vector<admin_key> keys, admin_proxy proxy = {});

    [[nodiscard]] std::optional<admin_key> find(std::string_view key) const;
    [[nodiscard]] const std::string& cookie_name() const noexcept { return cookie_name_; }
    [[nodiscard]] std::optional<std::string_view> session_token(const http_request& request) const;
    /// Where the request came from: the peer, or what a trusted proxy says.
    [[nodiscard]] std::string address_of(const http_request& request) const;
    /// As a trusted proxy says: the listener itself speaks plain HTTP.
    [[nodiscard]] bool came_over_tls(const http_request& request) const;
    /// All keys that count now.
    [[nodiscard]] std::vector<admin_key> known() const { return now()->keys; }

private:
    using outcome = std::expected<admin_caller, admin_refusal>;
    struct rules {
        std::vector<admin_key> keys;
        admin_proxy proxy;
    };
    [[nodiscard]] std::shared_ptr<const rules> now() const;
    [[nodiscard]] outcome identify(const http_request& request, const rules& known,
                                   std::optional<admin_role> needed) const;
    [[nodiscard]] std::optional<admin_caller> by_session(const http_request& request,
                                                         const rules& known) const;
    [[nodiscard]] outcome by_proxy(const http_request& request, const admin_proxy& proxy) const;

    bool loopback_;
    admin_sessions* sessions_;
    std::string cookie_name_;
    mutable std::mutex mutex_;
    std::shared_ptr<const rules> rules_;
};

}  // namespace posthorn
