#include "sim/checks/keys.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

namespace posthorn::sim {

secret draw_secret(random_source& dice) {
    // 15 bytes before the rest, so that its base64 begins the same in every one.
    const auto text = fmt::format("{}--{:016x}", secret_canary, dice.next());
    return secret(std::as_bytes(std::span(text)));
}

bool shows_canary(std::string_view text) {
    static constexpr std::string_view forms[] = {
        "canary-",
        "Y2FuYXJ5LXNlY3Jl",            // Base64 of the first twelve bytes of a secret.
        "63616e6172792d736563726574",  // The same in hexadecimal.
    };
    for (const auto form : forms)
        if (text.find(form) != std::string_view::npos) return true;
    return false;
}

void key_cabinet::install(const std::string& peer, ring_file file) {
    files_[peer] = std::move(file);
    peer_keys::rings all;
    for (const auto& [name, each] : files_) all[name] = std::make_shared<key_ring>(each.ring());
    rings_.replace(std::move(all));
}

}  // namespace posthorn::sim
