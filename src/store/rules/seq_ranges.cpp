#include "store/rules/seq_ranges.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/bounded_sum.hpp"

namespace posthorn {

std::string to_ranges(std::vector<std::int64_t> seqs) {
    std::ranges::sort(seqs);
    std::string text;
    for (auto first = seqs.begin(); first != seqs.end();) {
        auto last = first;
        while (std::next(last) != seqs.end() && bounded_difference(*std::next(last), *last) <= 1)
            ++last;
        if (!text.empty()) text += ',';
        if (*first == *last)
            fmt::format_to(std::back_inserter(text), "{}", *first);
        else
            fmt::format_to(std::back_inserter(text), "{}-{}", *first, *last);
        first = std::next(last);
    }
    return text;
}

}  // namespace posthorn
