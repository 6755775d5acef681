#include "standby/door/pair_credentials.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/text/referenced_text.hpp"
#include "security/ring_file.hpp"

namespace posthorn::standby {
namespace {

std::string named(const feature_settings& said, std::string_view key) {
    const auto& text = said.get<std::string>(key);
    return text == "none" ? std::string{} : text;
}

/// A key that others can read is theirs too.
result<> require_private(std::string_view reference) {
    namespace fs = std::filesystem;
    if (!reference.starts_with("file:")) return {};
    const fs::path path(reference.substr(5));
    std::error_code unusable;
    const auto may = fs::status(path, unusable).permissions();
    if (unusable || (may & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none)
        return {};
    return fail(error_code::secret_unavailable,
                "standby.key: others may read {}; run chmod 600 on it, or make a new one",
                path.string());
}

result<link_security> security_of(const pair_credentials& from, link_end self, const clock& time) {
    link_security made{.context = {}, .peer_name = from.peer_name};
    if (!from.has_tls()) return made;
    auto own = from.tls;
    if (self == link_end::standby) {
        POSTHORN_LET(server, tls_server::load(std::move(own), time));
        made.context = server->current();
        return made;
    }
    const auto authority = std::exchange(own.peer_authority, {});
    POSTHORN_LET(client, make_tls_client(authority, own));
    made.context = std::move(client);
    return made;
}

}  // namespace

result<pair_credentials> read_credentials(const feature_settings& said,
                                          const std::string& service) {
    pair_credentials made{.key = said.get<std::string>("key"),
                          .tls = {.certificate = named(said, "certificate"),
                                  .key = named(said, "private_key"),
                                  .peer_authority = named(said, "authority")},
                          .peer_name = named(said, "peer_name")};
    if (made.peer_name.empty()) made.peer_name = service;
    const std::array parts{
        std::pair<std::string_view, std::string_view>{"certificate", made.tls.certificate},
        std::pair<std::string_view, std::string_view>{"private_key", made.tls.key},
        std::pair<std::string_view, std::string_view>{"authority", made.tls.peer_authority}};
    const auto is_named = [](const auto& each) { return !each.second.empty(); };
    if (std::ranges::none_of(parts, is_named) || std::ranges::all_of(parts, is_named)) return made;
    for (const auto& [key, file] : parts)
        if (file.empty())
            return fail(error_code::invalid_configuration,
                        "standby.{} is missing; TLS between the two takes certificate, private_key "
                        "and authority, on both",
                        key);
    return made;
}

result<key_ring> read_pair_keys(const pair_credentials& from) {
    if (from.key == "none")
        return fail(error_code::invalid_configuration,
                    "standby.key is missing; make one with 'posthorn keys new', and give primary "
                    "and standby the same: file:PATH or env:NAME");
    POSTHORN_TRY(require_private(from.key));
    const auto text = referenced_text(from.key);
    if (!text) return fail(text.error().code(), "standby.key: {}", text.error().what());
    const auto file = ring_file::parse(*text, "standby.key");
    if (!file) return std::unexpected(file.error());
    auto ring = file->ring();
    const auto is_usable = [](const signing_key& each) { return !each.revoked; };
    if (std::ranges::any_of(ring.keys(), is_usable)) return ring;
    return fail(error_code::secret_unavailable,
                "standby.key holds no key that is in force; write base64:… there, or run posthorn "
                "keys new");
}

pair_access access_with(const pair_credentials& from, link_end self, const clock& time) {
    return {.keys = [from] { return read_pair_keys(from); },
            .security = [from, self, &time] { return security_of(from, self, time); }};
}

result<> check_credentials(const pair_credentials& what, const clock& time) {
    POSTHORN_TRY(read_pair_keys(what));
    const auto security = security_of(what, link_end::standby, time);
    if (security) return {};
    return fail(security.error().code(), "standby.certificate: {}", security.error().what());
}

}  // namespace posthorn::standby
