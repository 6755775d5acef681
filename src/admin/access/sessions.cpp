#include "admin/access/sessions.hpp"

#include <algorithm>
#include <array>

#include "admin/access/token.hpp"
#include "security/hex.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

constexpr std::size_t token_characters_max = 256;

secret make_secret(random_source& random) {
    std::array<std::byte, 32> bytes{};
    random.fill(bytes);
    return secret(bytes);
}

}  // namespace

admin_sessions::admin_sessions(random_source& random, const clock& time)
    : random_(random), time_(time), own_(make_secret(random)) {}

admin_sessions::opened admin_sessions::open(const sha256_digest& key) {
    const std::scoped_lock lock(mutex_);
    opened made{.token = random_token(random_),
                .about = {.key = key,
                          .csrf = random_token(random_),
                          .until = time_.wall() + std::chrono::milliseconds(lasts)}};
    const auto now = time_.steady();
    std::erase_if(all_, [&](const auto& each) { return now - each.second.opened >= lasts; });
    if (all_.size() >= sessions_max)
        all_.erase(std::ranges::min_element(all_, {},
                                            [](const auto& each) { return each.second.opened; }));
    all_.insert_or_assign(sha256_of({made.token}), kept{made.about, now});
    return made;
}

std::optional<admin_sessions::session> admin_sessions::find(std::string_view token) const {
    if (token.size() > token_characters_max) return std::nullopt;
    const auto hash = sha256_of({token});
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(hash);
    if (found == all_.end() || time_.steady() - found->second.opened >= lasts) return std::nullopt;
    return found->second.about;
}

void admin_sessions::close(std::string_view token) {
    const auto hash = sha256_of({token});
    const std::scoped_lock lock(mutex_);
    all_.erase(hash);
}

void admin_sessions::keep_those_of(const std::function<bool(const sha256_digest& key)>& is_known) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(all_, [&](const auto& each) { return !is_known(each.second.about.key); });
}

std::string admin_sessions::csrf_of(std::string_view user) const {
    return to_hex(hmac_of(own_, user));
}

}  // namespace posthorn
