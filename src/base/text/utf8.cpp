#include "base/text/utf8.hpp"

#include <boost/nowide/utf/utf.hpp>

#include "base/assert.hpp"

namespace posthorn {
namespace {

namespace utf = boost::nowide::utf;
using utf8 = utf::utf_traits<char>;

bool is_bad(utf::code_point c) { return c == utf::illegal || c == utf::incomplete; }

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end)
        if (is_bad(utf8::decode(at, end))) return false;
    return true;
}

std::string clean_utf8(std::string_view text, std::size_t characters_max) {
    POSTHORN_ASSERT(characters_max > 0);
    std::string out;
    std::size_t before_last = 0;  // Where the last character that may stay begins.
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t count = 0; at != end; ++count) {
        if (count == characters_max) {
            out.resize(before_last);
            return out += "…";
        }
        before_last = out.size();
        const char* const start = at;
        if (is_bad(utf8::decode(at, end))) {
            out += "\uFFFD";
            at = start + 1;
        } else {
            out.append(start, at);
        }
    }
    return out;
}

}  // namespace posthorn
