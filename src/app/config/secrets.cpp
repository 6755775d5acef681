#include "app/config/secrets.hpp"

#include <algorithm>

#include "app/config/private_text.hpp"
#include "app/config/route_url.hpp"
#include "security/ring_file.hpp"

namespace posthorn {
namespace {

result<std::vector<signing_key>> from_environment(const private_text& found) {
    auto parsed = secret::parse(found.text);
    if (!parsed)
        return fail(error_code::secret_unavailable, "{}: {}", found.place, parsed.error().what());
    return std::vector{make_key(*std::move(parsed))};
}

result<std::vector<signing_key>> from_file(const private_text& found) {
    const auto ring = ring_file::parse(found.text, found.place);
    if (!ring) return fail(error_code::secret_unavailable, "{}", ring.error().what());
    auto keys = ring->keys();
    if (keys.empty())
        return fail(error_code::secret_unavailable,
                    "{} holds no secret; write base64:… into it, or run posthorn keys new",
                    found.place);
    return keys;
}

result<std::vector<signing_key>> fetch(const config& settings, const secret_setting& one) {
    using enum secret_setting::kind;
    if (one.where == written) return std::vector{make_key(one.value)};
    POSTHORN_LET(found, read_private(settings, one, "base64:…"));
    return one.where == environment ? from_environment(found) : from_file(found);
}

bool share_a_key(const key_ring& one, const key_ring& other) {
    return std::ranges::any_of(one.keys(), [&](const signing_key& key) {
        return std::ranges::find(other.keys(), key.id, &signing_key::id) != other.keys().end();
    });
}

/// The older signatures tell peers apart by their keys alone.
void check_unshared(const config& settings, const peer_keys::rings& rings, config_problems& found) {
    for (const auto& [peer, ring] : rings)
        for (const auto& [other, others] : rings)
            if (peer != other && ring->scheme() != signature_scheme::v2 &&
                share_a_key(*ring, *others))
                found.add(error(
                    error_code::secret_unavailable,
                    fmt::format("{}: secrets.{} and secrets.{} are the same, but {} signs with {}, "
                                "which does not tell the two apart; give each a secret of its own",
                                settings.secrets.find(peer)->second.front().origin, peer, other,
                                peer, to_string(ring->scheme()))));
}

/// Nothing, if one of them cannot be fetched.
std::optional<std::vector<signing_key>> keys_of(const config& settings, std::string_view peer,
                                                const std::vector<secret_setting>& secrets,
                                                config_problems& found) {
    std::vector<signing_key> all;
    bool complete = true;
    for (const auto& one : secrets) {
        auto fetched = fetch(settings, one);
        if (!fetched) {
            found.add(
                error(error_code::secret_unavailable,
                      fmt::format("{}: secrets.{}: {}", one.origin, peer, fetched.error().what())));
            complete = false;
            continue;
        }
        for (auto& key : *fetched) {
            if (one.from) key.signs_from = one.from;
            if (one.until) key.verifies_until = one.until;
            key.revoked = key.revoked || one.revoked;
            all.push_back(std::move(key));
        }
    }
    if (!complete) return std::nullopt;
    return all;
}

}  // namespace

peer_keys::rings load_secrets(const config& settings, config_problems& found) {
    peer_keys::rings rings;
    for (const auto& [peer, secrets] : settings.secrets)
        if (auto keys = keys_of(settings, peer, secrets, found))
            rings.emplace(
                peer, std::make_shared<const key_ring>(*std::move(keys), settings.scheme_of(peer)));
    check_unshared(settings, rings, found);
    return rings;
}

result<peer_keys::rings> load_secrets(const config& settings) {
    config_problems found;
    auto rings = load_secrets(settings, found);
    POSTHORN_TRY(found.outcome());
    return rings;
}

void check_routes(const config& settings, const peer_keys::rings& rings,
                  const std::function<bool(std::string_view url)>& is_own, config_problems& found) {
    for (const auto& [destination, route] : settings.routes) {
        if (!is_signed(route.url) || is_own(route.url)) continue;
        const auto ring = rings.find(destination);
        if (ring != rings.end() && !ring->second->keys().empty()) continue;
        // One that cannot be fetched is a finding of its own.
        if (ring == rings.end() && settings.secrets.contains(destination)) continue;
        found.add(error(
            error_code::invalid_configuration,
            fmt::format("{}{}routes.{} has no secret; add {} under [secrets], the same as it has "
                        "for this service: posthorn keys new makes one",
                        route.origin, route.origin.empty() ? "" : ": ", destination, destination)));
    }
}

std::vector<std::string> peers_without_signer(const peer_keys::rings& rings, wall_time now) {
    std::vector<std::string> peers;
    for (const auto& [peer, ring] : rings)
        if (!ring->keys().empty() && ring->signer(now) == nullptr) peers.push_back(peer);
    return peers;
}

}  // namespace posthorn
