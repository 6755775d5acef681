#include "base/log/log_render.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <boost/nowide/utf/utf.hpp>
#include <fmt/format.h>

namespace posthorn {
namespace {

namespace utf = boost::nowide::utf;
using utf8 = utf::utf_traits<char>;

constexpr std::array<std::string_view, 5> tags{"TRC", "DBG", "INF", "WRN", "ERR"};
constexpr std::array<std::string_view, 5> level_names{"trace", "debug", "info", "warn", "error"};
constexpr std::string_view ellipsis = "\u2026";
constexpr std::string_view replacement = "\ufffd";

template <class... Visitors>
struct overloaded : Visitors... {
    using Visitors::operator()...;
};

enum class quoting : bool { none, quoted };

bool must_escape(utf::code_point c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f)  // C0, DEL, C1.
           || (c >= 0x2028 && c <= 0x202e)       // Line and paragraph ends, turns of direction.
           || (c >= 0x2066 && c <= 0x2069);      // Isolated turns of direction.
}

void append_escape(std::string& out, utf::code_point c) {
    switch (c) {
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    }
}

/// Whether a byte is a whole character that is shown as it is, with quotes around it or without.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

/// Makes `raw` valid, harmless UTF-8. With quotes around it the result is also a JSON string.
void append_safe(std::string& out, std::string_view raw, quoting quotes) {
    if (quotes == quoting::quoted) out += '"';
    for (const char *at = raw.data(), *const end = at + raw.size(); at != end;) {
        const char* const start = std::find_if_not(at, end, is_plain);
        out.append(at, start);  // Most of most lines, and not character by character.
        if (start == end) break;
        at = start;
        const utf::code_point c = utf8::decode(at, end);
        if (c == utf::illegal || c == utf::incomplete) {
            out += replacement;
            at = start + 1;  // The bytes behind the bad one may be good.
        } else if (must_escape(c)) {
            append_escape(out, c);
        } else {
            if (quotes == quoting::quoted && (c == '"' || c == '\\')) out += '\\';
            out.append(start, at);
        }
    }
    if (quotes == quoting::quoted) out += '"';
}

void append_cut(std::string& out, std::string_view raw, std::size_t size_max) {
    if (raw.size() <= size_max) {
        out += raw;
        return;
    }
    std::size_t size = size_max;
    // Not in the middle of a character; more than three trailing bytes are not a character.
    while (size > 0 && size_max - size < 3 && utf8::is_trail(raw[size])) --size;
    out += raw.substr(0, size);
    out += ellipsis;
}

void append_id(std::string& out, const uuid& id) {
    std::array<char, 36> text;
    id.format_to(text);
    out.append(text.data(), text.size());
}

/// The value as people read it, not yet made safe.
void append_raw(std::string& out, const log_value& value, std::size_t size_max) {
    std::visit(overloaded{
                   [&](std::string_view text) { append_cut(out, text, size_max); },
                   [&](bool truth) { out += truth ? "true" : "false"; },
                   [&](std::chrono::milliseconds span) {
                       fmt::format_to(std::back_inserter(out), "{}ms", span.count());
                   },
                   [&](const uuid& id) { append_id(out, id); },
                   [&](auto number) { fmt::format_to(std::back_inserter(out), "{}", number); },
               },
               value.get());
}

struct message {
    std::string text;          // Not yet made safe.
    std::vector<bool> placed;  // For each field, whether the template has a place for it.
};

/// The name in the placeholder that `rest` begins with, or nothing.
std::string_view placeholder_name(std::string_view rest) {
    const std::size_t stop = rest.find_first_of("{}", 1);
    if (stop == rest.npos || rest[stop] == '{') return {};
    return rest.substr(1, stop - 1);
}

/// Appends the field of that name; false if there is none.
bool place_field(message& made, std::string_view name, const log_entry& entry) {
    const auto found = std::ranges::find(entry.fields, name, &log_field::name);
    if (name.empty() || found == entry.fields.end()) return false;
    append_raw(made.text, found->value, entry.value_size_max);
    made.placed[static_cast<std::size_t>(found - entry.fields.begin())] = true;
    return true;
}

// One pass from left to right, so braces inside a value are never read as a placeholder.
message render_message(const log_entry& entry) {
    message made{.text = {}, .placed = std::vector<bool>(entry.fields.size())};
    for (std::string_view rest = entry.message_template; !rest.empty();) {
        const std::size_t plain = std::min(rest.find_first_of("{}"), rest.size());
        made.text += rest.substr(0, plain);
        rest.remove_prefix(plain);
        if (rest.empty()) break;

        const bool doubled = rest.size() > 1 && rest[1] == rest[0];
        const std::string_view name =
            doubled || rest[0] == '}' ? std::string_view() : placeholder_name(rest);
        if (place_field(made, name, entry)) {
            rest.remove_prefix(name.size() + 2);
        } else {
            made.text += rest[0];
            rest.remove_prefix(doubled ? 2 : 1);
            // An unknown placeholder stays whole, so that its closing brace pairs with nothing
            // else.
            if (!name.empty()) {
                made.text += name;
                made.text += '}';
                rest.remove_prefix(name.size() + 1);
            }
        }
    }
    return made;
}

void append_word(std::string& out, std::string_view raw) {
    const bool plain = !raw.empty() && raw.find_first_of(" \"") == raw.npos;
    append_safe(out, raw, plain ? quoting::none : quoting::quoted);
}

void append_json_number(std::string& out, double number) {
    if (std::isfinite(number))
        fmt::format_to(std::back_inserter(out), "{}", number);
    else
        out += "null";
}

void append_json_value(std::string& out, const log_value& value, std::size_t size_max) {
    if (const auto* number = std::get_if<double>(&value.get())) {
        append_json_number(out, *number);
    } else if (const auto* span = std::get_if<std::chrono::milliseconds>(&value.get())) {
        fmt::format_to(std::back_inserter(out), "{}", span->count());
    } else {
        std::string raw;
        append_raw(raw, value, size_max);
        const bool text = std::holds_alternative<std::string_view>(value.get()) ||
                          std::holds_alternative<uuid>(value.get());
        if (text)
            append_safe(out, raw, quoting::quoted);
        else
            out += raw;
    }
}

}  // namespace

std::string render_text(const log_entry& entry) {
    const message made = render_message(entry);
    std::string line = to_iso8601(entry.time);
    line += " [";
    line += tags[static_cast<std::size_t>(entry.level)];
    line += "] ";
    append_safe(line, made.text, quoting::none);

    std::string raw;
    for (std::size_t i = 0; i < entry.fields.size(); ++i) {
        if (made.placed[i]) continue;
        line += ' ';
        append_word(line, entry.fields[i].name);
        line += '=';
        raw.clear();
        append_raw(raw, entry.fields[i].value, entry.value_size_max);
        append_word(line, raw);
    }
    return line;
}

std::string render_json(const log_entry& entry) {
    std::string line = "{\"time\":\"" + to_iso8601(entry.time) + "\",\"level\":\"";
    line += level_names[static_cast<std::size_t>(entry.level)];
    line += "\",\"message\":";
    append_safe(line, render_message(entry).text, quoting::quoted);

    std::vector<std::string> taken{"\"time\"", "\"level\"", "\"message\""};
    for (const log_field& field : entry.fields) {
        std::string name;
        append_safe(name, field.name, quoting::quoted);
        while (std::ranges::find(taken, name) != taken.end()) name.insert(name.size() - 1, 1, '_');
        line += ',';
        line += name;
        line += ':';
        append_json_value(line, field.value, entry.value_size_max);
        taken.push_back(std::move(name));
    }
    line += '}';
    return line;
}

}  // namespace posthorn
