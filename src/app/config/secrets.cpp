#include "app/config/secrets.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "app/config/route_url.hpp"
#include "base/text/hide_secrets.hpp"
#include "security/ring_file.hpp"

namespace posthorn {
namespace {

result<std::vector<signing_key>> from_environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (!value)
        return fail(error_code::secret_unavailable,
                    "the environment variable {} is not set; set it to base64:… where the node is "
                    "started",
                    shown_variable(name));
    auto parsed = secret::parse(value);
    if (!parsed)
        return fail(error_code::secret_unavailable, "the environment variable {}: {}",
                    shown_variable(name), parsed.error().what());
    return std::vector{make_key(*std::move(parsed))};
}

result<std::vector<signing_key>> from_file(const std::string& path) {
    struct stat about{};
    std::ifstream stream(path, std::ios::binary);
    if (!stream || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return fail(error_code::secret_unavailable,
                    "{} cannot be read; check the path and who may read it", path);
    if ((about.st_mode & 077U) != 0)
        return fail(error_code::secret_unavailable,
                    "{} can be read or written by others than its owner; run chmod 600 {}", path,
                    path);
    std::ostringstream text;
    text << stream.rdbuf();
    const auto ring = ring_file::parse(std::move(text).str(), path);
    if (!ring) return fail(error_code::secret_unavailable, "{}", ring.error().what());
    auto keys = ring->keys();
    if (keys.empty())
        return fail(error_code::secret_unavailable,
                    "{} holds no secret; write base64:… into it, or run posthorn keys new", path);
    return keys;
}

result<std::vector<signing_key>> fetch(const config& settings, const secret_setting& one) {
    switch (one.where) {
        case secret_setting::kind::written: return std::vector{make_key(one.value)};
        case secret_setting::kind::environment: return from_environment(one.name);
        case secret_setting::kind::file: break;
    }
    return from_file(settings.path_of(std::filesystem::path(one.name)));
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
