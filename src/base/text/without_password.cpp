#include "base/text/without_password.hpp"

#include <algorithm>

namespace posthorn {
namespace {

constexpr std::string_view hidden = "(hidden)";

void hide_word(std::string& shown, char end) {
    constexpr std::string_view word = "password=";
    const auto at = shown.find(word);
    if (at == std::string::npos) return;
    const auto from = at + word.size();
    shown.replace(from, std::min(shown.find(end, from), shown.size()) - from, hidden);
}

}  // namespace

std::string without_password(std::string_view address) {
    std::string shown(address);
    const auto scheme = shown.find("://");
    if (scheme == std::string::npos) {
        hide_word(shown, ' ');
        return shown;
    }
    const auto from = scheme + 3;
    const auto authority =
        std::string_view(shown).substr(from, shown.find_first_of("/?", from) - from);
    const auto colon = authority.find(':');
    const auto at = authority.rfind('@');
    if (at != std::string_view::npos && colon < at)
        shown.replace(from + colon + 1, at - colon - 1, hidden);
    hide_word(shown, '&');
    return shown;
}

}  // namespace posthorn
