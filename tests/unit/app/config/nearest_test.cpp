#include "app/config/nearest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 6> words{"serve",  "version",     "help",
                                                "health", "listen.http", "a"};

struct nearest_case {
    std::string_view word;
    std::optional<std::string_view> expected;
};

TEST(nearest, finds_what_was_meant_and_nothing_else) {
    const std::array cases{
        nearest_case{"serve", "serve"},     // The word itself.
        nearest_case{"srve", "serve"},      // One letter dropped.
        nearest_case{"sserve", "serve"},    // One letter added.
        nearest_case{"sarve", "serve"},     // One letter changed.
        nearest_case{"svere", "serve"},     // Two letters moved: two edits.
        nearest_case{"SERVE", "serve"},     // Case does not count.
        nearest_case{"vers", "version"},    // A third of seven letters, rounded up.
        nearest_case{"ver", std::nullopt},  // One more than that.
        nearest_case{"helth", "health"},    // Nearer than "help".
        nearest_case{"listen.htpt", "listen.http"},
        nearest_case{"b", std::nullopt},  // Not "a": nothing of it would be kept.
        nearest_case{"", std::nullopt},
        nearest_case{"completely-different", std::nullopt},
    };
    for (const auto& [word, expected] : cases) EXPECT_EQ(nearest(word, words), expected) << word;
}

TEST(nearest, counts_a_swap_of_neighbours_as_one_edit) {
    constexpr std::array<std::string_view, 1> only{"abc"};
    EXPECT_EQ(nearest("bac", only), "abc");
    EXPECT_EQ(nearest("cba", only), std::nullopt);
}

TEST(nearest, prefers_the_first_of_equally_near_candidates) {
    constexpr std::array<std::string_view, 2> both{"send1", "send2"};
    EXPECT_EQ(nearest("send3", both), "send1");
}

TEST(nearest, finds_nothing_among_no_candidates) { EXPECT_EQ(nearest("serve", {}), std::nullopt); }

TEST(nearest, ignores_words_that_nobody_would_type) {
    const std::string longest(65, 'x');
    const std::array<std::string_view, 1> only{longest};
    EXPECT_EQ(nearest(longest, only), std::nullopt);
}

}  // namespace
}  // namespace posthorn
