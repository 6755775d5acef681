#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace posthorn {

/// Text that was put together by the compiler. It is a constant with a name: a view of one that is
/// gone would be of nothing.
template <std::size_t Size>
struct joined_text {
    std::array<char, Size + 1> characters{};  // And a zero.

    constexpr operator std::string_view() const& noexcept { return {characters.data(), Size}; }
    constexpr operator std::string_view() const&& = delete;
};

namespace detail {
template <class Part>
inline constexpr std::size_t text_size = 0;
template <std::size_t Size>
inline constexpr std::size_t text_size<char[Size]> = Size - 1;
template <std::size_t Size>
inline constexpr std::size_t text_size<joined_text<Size>> = Size;
}  // namespace detail

/// Puts texts one behind the other: literals, and what was joined before.
template <class... Parts>
consteval auto joined(const Parts&... parts) {
    joined_text<(detail::text_size<Parts> + ...)> whole;
    auto* end = whole.characters.data();
    const auto add = [&end](std::string_view part) { end = std::ranges::copy(part, end).out; };
    (add(parts), ...);
    return whole;
}

}  // namespace posthorn
