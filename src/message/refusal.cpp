#include "message/refusal.hpp"

#include <posthorn/error.hpp>
#include <posthorn/json/encode.hpp>
#include <posthorn/json/reader.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::string_view refusal_header = "posthorn-refused";
constexpr std::size_t refusal_size_max = 2000;

}  // namespace

std::string refusal_headers(std::string_view why) {
    std::string headers = "{";
    encode_to(headers, std::string(refusal_header));
    headers += ':';
    encode_to(headers, clean_utf8(why, refusal_size_max));
    return headers += '}';
}

std::optional<std::string> refusal_in(std::string_view headers) {
    if (!headers.contains(refusal_header)) return {};
    std::optional<std::string> why;
    try {
        json_reader::read(headers, [&](json_reader& from) {
            from.members([&](std::string_view name, json_reader& value) {
                if (name == refusal_header)
                    why = std::string(value.string());
                else
                    value.skip();
            });
        });
    } catch (const error&) {
        return {};
    }
    return why;
}

}  // namespace posthorn
