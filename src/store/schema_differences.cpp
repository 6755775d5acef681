#include "store/schema_differences.hpp"

#include <fmt/ranges.h>

#include "base/log/log.hpp"

namespace posthorn {

void tell(const schema_differences& mended, logger& log) {
    if (!mended.dropped.empty())
        log.warn("Store: made again what was dropped: {Names}",
                 {{"Names", fmt::format("{}", fmt::join(mended.dropped, ", "))}});
    if (!mended.changed.empty())
        log.warn(
            "Store: made anew what was not as Posthorn had made it: {Names}; if no person changed "
            "it, the disk may be failing",
            {{"Names", fmt::format("{}", fmt::join(mended.changed, ", "))}});
    if (!mended.foreign.empty())
        log.warn(
            "Store: not Posthorn's, but on its tables: {Names}; what it refuses, changes or lets "
            "vanish holds messages up",
            {{"Names", fmt::format("{}", fmt::join(mended.foreign, ", "))}});
}

}  // namespace posthorn
