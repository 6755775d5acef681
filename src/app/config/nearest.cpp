#include "app/config/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace posthorn {
namespace {

// Words come from a command line or a file; a word this long is not a typing error, and the cost of
// comparing grows with the square of the length.
constexpr std::size_t word_length_max = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Damerau-Levenshtein in its restricted form: no letter is edited twice.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                                 lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// A third of the letters may be wrong; beyond that a suggestion is a guess.
std::size_t edits_max(std::string_view a, std::string_view b) {
    return (std::max(a.size(), b.size()) + 2) / 3;
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    if (word.empty() || word.size() > word_length_max) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t best_distance = 0;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > word_length_max) continue;
        const std::size_t edits = distance(word, candidate);
        // As many edits as letters would be another word altogether.
        if (edits > edits_max(word, candidate) || edits >= candidate.size()) continue;
        if (best && edits >= best_distance) continue;
        best = candidate;
        best_distance = edits;
    }
    return best;
}

}  // namespace posthorn
