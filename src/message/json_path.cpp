#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <posthorn/error.hpp>
#include <posthorn/json/path.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

// A key may come from a stranger: in errors and logs it is cut short and holds no line ends.
constexpr std::size_t name_characters_max = 64;

std::string shown(std::string_view name) {
    auto text = clean_utf8(name, name_characters_max);
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return text;
}

}  // namespace

std::string json_path::to_string() const {
    std::vector<const json_path*> frames;
    for (const auto* one = this; one->above != nullptr; one = one->above) frames.push_back(one);
    std::string text;
    for (auto one = frames.rbegin(); one != frames.rend(); ++one) {
        const auto& frame = **one;
        if (frame.name.data() == nullptr) {
            text += fmt::format("[{}]", frame.index);
        } else {
            if (!text.empty()) text += '.';
            text += shown(frame.name);
        }
    }
    return text;
}

std::size_t json_path::depth() const noexcept {
    std::size_t levels = 0;
    for (const auto* one = above; one != nullptr; one = one->above) ++levels;
    return levels;
}

void fail_at(const json_path& path, std::string_view why) {
    const auto where = path.to_string();
    throw error(error_code::invalid_payload,
                fmt::format("{} {}", where.empty() ? "the payload" : where, why));
}

}  // namespace posthorn
