#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace posthorn {

/// What a statement says on each database; a store takes its own. Of constants: it is not copied.
struct statement_text {
    std::string_view sqlite;
    std::string_view postgres{};  // `{s}` stands for the schema.
};

namespace detail {

template <std::size_t Size>
struct literal_text {
    consteval literal_text(const char (&text)[Size]) {
        std::ranges::copy(text, characters.begin());
    }
    std::array<char, Size> characters{};
};

template <std::size_t Size>
struct dialect_text {
    std::array<char, Size> characters{};
    std::size_t size = 0;

    consteval void add(char one) { characters[size++] = one; }
    [[nodiscard]] constexpr std::string_view view() const { return {characters.data(), size}; }
};

template <literal_text Text>
consteval auto without_schema() {
    const std::string_view all(Text.characters.data(), Text.characters.size() - 1);
    dialect_text<Text.characters.size()> said;
    for (std::size_t at = 0; at < all.size(); ++at)
        if (all.substr(at).starts_with("{s}."))
            at += 3;
        else
            said.add(all[at]);
    return said;
}

template <literal_text Text>
consteval auto with_dollars() {
    const std::string_view all(Text.characters.data(), Text.characters.size() - 1);
    dialect_text<Text.characters.size()> said;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const bool has_number = at + 1 < all.size() && all[at + 1] >= '1' && all[at + 1] <= '9';
        if (all[at] == '?' && !has_number) throw "a parameter has a number, as in ?1";
        said.add(all[at] == '?' ? '$' : all[at]);
    }
    return said;
}

template <literal_text Text>
struct translated {
    static constexpr auto sqlite = without_schema<Text>();
    static constexpr auto postgres = with_dollars<Text>();
};

}  // namespace detail

/// What reads alike on both: tables as `{s}.changes`, parameters as `?1`.
template <detail::literal_text Text>
inline constexpr statement_text both{.sqlite = detail::translated<Text>::sqlite.view(),
                                     .postgres = detail::translated<Text>::postgres.view()};

}  // namespace posthorn
