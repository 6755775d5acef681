#include "measure/payload.hpp"

#include <charconv>

#include <fmt/format.h>

namespace posthorn::measure {
namespace {

constexpr std::size_t payload_size = 256;
constexpr std::string_view before = R"({"n":")";
constexpr std::string_view between = R"(","text":")";
constexpr std::string_view after = R"("})";
constexpr std::size_t digits = 16;

}  // namespace

std::string make_payload(std::uint64_t index) {
    constexpr auto filling = payload_size - before.size() - digits - between.size() - after.size();
    return fmt::format("{}{:016x}{}{:x>{}}{}", before, index, between, "", filling, after);
}

std::uint64_t index_of(std::string_view payload) noexcept {
    std::uint64_t index = 0;
    if (payload.size() < before.size() + digits) return index;
    const auto text = payload.substr(before.size(), digits);
    std::from_chars(text.data(), text.data() + text.size(), index, 16);
    return index;
}

}  // namespace posthorn::measure
