#include "store/rules/fair_shares.hpp"

#include <algorithm>

namespace posthorn {

std::vector<std::size_t> fair_shares(std::span<const std::size_t> wants, std::size_t limit,
                                     std::size_t start) {
    std::vector<std::size_t> shares(wants.size(), 0);
    const auto wanting = [&](std::size_t i) { return shares[i] < wants[i]; };
    for (std::size_t left = limit; left > 0;) {
        std::size_t parties = 0;
        for (std::size_t i = 0; i < wants.size(); ++i) parties += wanting(i) ? 1 : 0;
        if (parties == 0) break;
        const auto each = std::max<std::size_t>(left / parties, 1);
        for (std::size_t i = 0; i < wants.size() && left > 0; ++i) {
            const auto at = (start + i) % wants.size();
            const auto more = std::min({each, wants[at] - shares[at], left});
            shares[at] += more;
            left -= more;
        }
    }
    return shares;
}

}  // namespace posthorn
