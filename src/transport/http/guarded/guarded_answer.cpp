#include "transport/http/guarded/guarded_answer.hpp"

#include <array>

namespace posthorn {

std::string_view to_string(guarded_trouble what) noexcept {
    constexpr std::array<std::string_view, 12> words{
        "none", "bad_request", "refused",   "name", "connect",    "proxy",
        "tls",  "broken",      "malformed", "late", "overloaded", "cancelled"};
    return words[static_cast<std::size_t>(what)];
}

}  // namespace posthorn
