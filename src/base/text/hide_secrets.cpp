#include "base/text/hide_secrets.hpp"

#include <algorithm>
#include <array>

namespace posthorn {
namespace {

constexpr std::string_view hidden = "(hidden)";
// What may follow the beginning of a key.
constexpr std::string_view of_keys =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-";

void hide_after(std::string& text, std::string_view beginning) {
    for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
        at += beginning.size();
        const auto end = std::min(text.find_first_not_of(of_keys, at), text.size());
        if (end == at) continue;
        text.replace(at, end - at, hidden);
        at += hidden.size();
    }
}

// `scheme://user:password@host`.
void hide_passwords(std::string& text) {
    constexpr std::string_view beginning = "://";
    for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
        at += beginning.size();
        const auto end = std::min(text.find_first_of(" /?#'\"\n", at), text.size());
        const auto host = text.rfind('@', end);
        const auto colon = text.find(':', at);
        if (host == std::string::npos || host < at || colon >= host) continue;
        text.replace(colon + 1, host - colon - 1, hidden);
        at = colon + hidden.size();
    }
}

}  // namespace

std::string hide_secrets(std::string_view text) {
    std::string shown(text);
    for (const auto* beginning : {"base64:", "phk_", "whsec_", "whsk_"})
        hide_after(shown, beginning);
    hide_passwords(shown);
    return shown;
}

}  // namespace posthorn
