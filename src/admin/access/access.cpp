#include "admin/access/access.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "admin/access/token.hpp"
#include "security/hex.hpp"

namespace posthorn {
namespace {

constexpr std::string_view hash_prefix = "sha256:";
constexpr std::string_view key_prefix = "phk_";
constexpr std::size_t key_characters_max = 256;

std::optional<unsigned> hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
    return std::nullopt;
}

bool may(admin_role has, std::optional<admin_role> needed) {
    return !needed || has == *needed || has == admin_role::operator_;
}

bool looks(const http_request& request) {
    return request.method == "GET" || request.method == "HEAD";
}

std::unexpected<admin_refusal> refuse(std::uint16_t status, std::string who, std::string why) {
    return std::unexpected(admin_refusal{status, std::move(who), std::move(why)});
}

std::optional<std::string_view> bearer(const http_request& request) {
    const auto header = request.headers.find("Authorization");
    constexpr std::string_view scheme = "Bearer ";
    if (!header || !header->starts_with(scheme)) return std::nullopt;
    return header->substr(scheme.size());
}

const admin_key* find_key(const std::vector<admin_key>& keys, std::string_view given) {
    if (given.size() > key_characters_max) return nullptr;
    const admin_key* found = nullptr;
    // All of them: how long it takes does not tell which one it was.
    for (const auto& each : keys)
        if (has_digest(given, each.hash)) found = &each;
    return found;
}

// The one value of that name. A proxy that adds its own to what a caller sent does not count.
std::optional<std::string_view> only(const http_request& request, std::string_view name) {
    const auto value = request.headers.find(name);
    const auto is_named = [&](const http_headers::field& each) {
        return http_headers({each}).find(name).has_value();
    };
    if (std::ranges::count_if(request.headers, is_named) != 1) return std::nullopt;
    return value;
}

bool is_of_proxy(const http_request& request, const admin_proxy& proxy) {
    const auto shown = only(request, proxy_secret_header);
    return proxy.secret && shown && has_digest(*shown, *proxy.secret);
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// `http://host:port` against the `Host` that the request was sent to.
bool comes_from_elsewhere(const http_request& request) {
    const auto origin = request.headers.find("Origin");
    if (!origin) return false;
    const auto host = request.headers.find("Host").value_or("");
    const auto scheme_end = origin->find("://");
    return scheme_end == origin->npos || host.empty() || origin->substr(scheme_end + 3) != host;
}

// A foreign name that leads here is how a web page reaches a listener on loopback.
bool names_this_machine(const http_request& request) {
    auto host = request.headers.find("Host").value_or("");
    if (host == "[::1]" || host.starts_with("[::1]:")) return true;
    host = host.substr(0, host.find(':'));
    const bool is_address = std::ranges::all_of(
        host, [](char each) { return each == '.' || (each >= '0' && each <= '9'); });
    return host == "localhost" || host.empty() || (is_address && host.starts_with("127."));
}

}  // namespace

std::optional<sha256_digest> parse_key_hash(std::string_view text) noexcept {
    sha256_digest hash{};
    if (!text.starts_with(hash_prefix)) return std::nullopt;
    text.remove_prefix(hash_prefix.size());
    if (text.size() != 2 * hash.size()) return std::nullopt;
    for (std::size_t i = 0; i < hash.size(); ++i) {
        const auto high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (!high || !low) return std::nullopt;
        hash[i] = static_cast<std::byte>(*high * 16 + *low);
    }
    return hash;
}

new_admin_key make_admin_key(random_source& random) {
    new_admin_key made{.key = std::string(key_prefix) + random_token(random), .hash = {}};
    made.hash = std::string(hash_prefix) + to_hex(sha256_of({made.key}));
    return made;
}

std::optional<admin_refusal> refuse_foreign_page(const http_request& request) {
    if (!comes_from_elsewhere(request)) return std::nullopt;
    return admin_refusal{403, {}, "requests of pages from another origin are not answered"};
}

admin_access::admin_access(options given)
    : loopback_(given.loopback),
      sessions_(given.sessions),
      cookie_name_(std::move(given.cookie_name)),
      rules_(std::make_shared<const rules>(std::move(given.keys), std::move(given.proxy))) {}

std::shared_ptr<const admin_access::rules> admin_access::now() const {
    const std::scoped_lock lock(mutex_);
    return rules_;
}

void admin_access::replace(std::vector<admin_key> keys, admin_proxy proxy) {
    const auto fresh = std::make_shared<const rules>(std::move(keys), std::move(proxy));
    {
        const std::scoped_lock lock(mutex_);
        rules_ = fresh;
    }
    if (sessions_ == nullptr) return;
    sessions_->keep_those_of([&](const sha256_digest& hash) {
        return std::ranges::find(fresh->keys, hash, &admin_key::hash) != fresh->keys.end();
    });
}

std::optional<admin_key> admin_access::find(std::string_view key) const {
    const auto known = now();
    const auto* const found = find_key(known->keys, key);
    return found ? std::optional(*found) : std::nullopt;
}

std::optional<std::string_view> admin_access::session_token(const http_request& request) const {
    auto rest = request.headers.find("Cookie").value_or("");
    while (!rest.empty()) {
        const auto end = rest.find(';');
        const auto one = trimmed(rest.substr(0, end));
        const auto equals = one.find('=');
        if (equals != one.npos && one.substr(0, equals) == cookie_name_)
            return one.substr(equals + 1);
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    return std::nullopt;
}

std::string admin_access::address_of(const http_request& request) const {
    if (is_of_proxy(request, now()->proxy))
        if (const auto passed = request.headers.find("X-Forwarded-For")) {
            // The last is the one that the proxy itself has seen.
            const auto comma = passed->rfind(',');
            const auto last = comma == passed->npos ? *passed : passed->substr(comma + 1);
            return std::string(trimmed(last));
        }
    return request.peer;
}

bool admin_access::came_over_tls(const http_request& request) const {
    return is_of_proxy(request, now()->proxy) &&
           request.headers.find("X-Forwarded-Proto") == std::string_view("https");
}

// Role and rights are those that the key has now.
std::optional<admin_caller> admin_access::by_session(const http_request& request,
                                                     const rules& known) const {
    const auto token = sessions_ ? session_token(request) : std::nullopt;
    auto session = token ? sessions_->find(*token) : std::nullopt;
    if (!session) return std::nullopt;
    const auto key = std::ranges::find(known.keys, session->key, &admin_key::hash);
    if (key == known.keys.end()) return std::nullopt;
    return admin_caller{
        key->name,     key->role, key->rights, admin_way::session, std::move(session->csrf),
        session->until};
}

admin_access::outcome admin_access::by_proxy(const http_request& request,
                                             const admin_proxy& proxy) const {
    const auto name = only(request, proxy.user_header);
    if (!name || name->empty() || !is_of_proxy(request, proxy))
        return refuse(403, {},
                      fmt::format("{} names a person, and is believed only once and beside the "
                                  "secret of admin.proxy_secret in {}",
                                  proxy.user_header, proxy_secret_header));
    auto row = std::ranges::find(proxy.users, *name, &admin_proxy::user::name);
    if (row == proxy.users.end() || *name == "*")
        row = std::ranges::find(proxy.users, "*", &admin_proxy::user::name);
    if (row == proxy.users.end())
        return refuse(403, std::string(*name), "this person is not among admin.proxy_users");
    return admin_caller{.name = std::string(*name),
                        .role = row->role,
                        .rights = row->rights,
                        .by = admin_way::proxy,
                        .csrf = sessions_ ? sessions_->csrf_of(*name) : std::string()};
}

admin_access::outcome admin_access::identify(const http_request& request, const rules& known,
                                             std::optional<admin_role> needed) const {
    if (const auto given = bearer(request)) {
        if (const auto* const key = find_key(known.keys, *given))
            return admin_caller{key->name, key->role, key->rights, admin_way::key};
        return refuse(401, {},
                      known.keys.empty() ? "this key is not known here, where there are none: send "
                                           "no key, or unset POSTHORN_ADMIN_KEY"
                                         : "this key is not known here");
    }
    if (auto caller = by_session(request, known)) return *std::move(caller);
    const auto& named_in = known.proxy.user_header;
    if (!named_in.empty() && request.headers.find(named_in)) return by_proxy(request, known.proxy);
    const bool may_look = loopback_ && known.keys.empty();
    if (may_look && needed.value_or(admin_role::viewer) == admin_role::viewer) {
        if (names_this_machine(request)) return admin_caller{.name = "loopback"};
        return refuse(403, {}, "without a key, call this machine localhost or by its address");
    }
    if (sessions_ && session_token(request))
        return refuse(401, {},
                      "the session has ended: it was 8 hours old, its key was taken back, or the "
                      "node was started anew; sign in again");
    return refuse(401, {},
                  fmt::format("send the header `Authorization: Bearer KEY` with a key{}; "
                              "`posthorn keys admin new` makes one",
                              needed ? fmt::format(" of the role {}", to_string(*needed)) : ""));
}

std::expected<admin_caller, admin_refusal> admin_access::admit(
    const http_request& request, std::optional<admin_role> needed) const {
    if (auto elsewhere = refuse_foreign_page(request))
        return std::unexpected(*std::move(elsewhere));
    const auto known = now();
    auto caller = identify(request, *known, needed);
    if (!caller) return caller;
    if (!may(caller->role, needed))
        return refuse(403, caller->name,
                      fmt::format("this needs a key with the role {}, and yours has {}",
                                  to_string(*needed), to_string(caller->role)));
    const bool shows_by_itself = caller->by == admin_way::session || caller->by == admin_way::proxy;
    if (shows_by_itself && !looks(request)) {
        const auto token = request.headers.find(csrf_header);
        if (!token || caller->csrf.empty() || !has_digest(*token, sha256_of({caller->csrf})))
            return refuse(403, caller->name,
                          fmt::format("a change from a browser needs the header {} with the `csrf` "
                                      "of GET /_rf/whoami",
                                      csrf_header));
    }
    return caller;
}

}  // namespace posthorn
