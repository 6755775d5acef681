#include "base/text/comma_list.hpp"

#include <algorithm>

namespace posthorn {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        if (const auto one = trimmed(part); !one.empty()) parts.emplace_back(one);
    }
    return parts;
}

}  // namespace posthorn
