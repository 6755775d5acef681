#include <array>
#include <charconv>
#include <cmath>

#include <posthorn/json/writer.hpp>

#include "base/text/utf8.hpp"
#include "message/json_check.hpp"

namespace posthorn {
namespace {

constexpr char hex[] = "0123456789abcdef";

// What may stand in a JSON string as it is; bytes past ASCII may once they are known to be UTF-8.
constexpr auto is_plain = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}();

template <class Number>
void append_number(std::string& out, Number value) {
    std::array<char, 32> text;
    const auto made = std::to_chars(text.data(), text.data() + text.size(), value);
    out.append(text.data(), made.ptr);
}

void append_escape(std::string& out, char c) {
    out += '\\';
    switch (c) {
        case '"':
        case '\\': out += c; break;
        case '\n': out += 'n'; break;
        case '\r': out += 'r'; break;
        case '\t': out += 't'; break;
        default:
            out += "u00";
            out += hex[static_cast<unsigned char>(c) >> 4];
            out += hex[c & 15];
    }
}

}  // namespace

void json_writer::string(std::string_view value) {
    out_ += '"';
    const auto* from = value.data();
    const auto* const end = from + value.size();
    bool checked = false;
    for (const auto* at = from; at != end; ++at) {
        if (is_plain[static_cast<unsigned char>(*at)]) continue;
        if (static_cast<unsigned char>(*at) >= 0x80) {
            if (!checked && !is_utf8(value)) fail("is text that is not UTF-8");
            checked = true;
            continue;
        }
        out_.append(from, at);
        append_escape(out_, *at);
        from = at + 1;
    }
    out_.append(from, end);
    out_ += '"';
}

void json_writer::integer(std::int64_t value) { append_number(out_, value); }
void json_writer::natural(std::uint64_t value) { append_number(out_, value); }

void json_writer::real(double value) {
    if (!std::isfinite(value)) fail("is not a finite number, which JSON cannot say");
    append_number(out_, value);
}

void json_writer::raw(std::string_view value) {
    if (const auto checked = check_json(value, json_kind::any, {.inside = path_->depth()});
        !checked)
        fail(std::string("is not JSON: ") + checked.error().what());
    out_ += value;
}

}  // namespace posthorn
