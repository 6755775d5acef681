// Which bug is planted in this process: the one that POSTHORN_PLANTED names.
#include "base/planted.hpp"

#include <cstdlib>
#include <string_view>

namespace posthorn {

bool is_planted(const char* bug) noexcept {
    static const char* const chosen = std::getenv("POSTHORN_PLANTED");
    return chosen != nullptr && std::string_view(chosen) == bug;
}

}  // namespace posthorn
