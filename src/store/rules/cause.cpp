#include "store/rules/cause.hpp"

#include <algorithm>
#include <array>

#include <posthorn/uuid.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

using view = std::string_view;

// As in the C locale, whatever the process has chosen.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_alnum(char c) { return is_digit(c) || is_letter(c); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }

template <class Is>
std::size_t run_of(view text, Is is) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}
std::size_t digits(view text) { return run_of(text, is_digit); }
char at(view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }
bool ends_word(view text, std::size_t i) { return !is_alnum(at(text, i)); }

// Each of these gives how much of the text, from its beginning, is what its name says: none if
// zero. `before` is the character in front of it.

std::size_t quoted(view text, char before) {
    const char mark = text.front();
    if (mark != '\'' && mark != '"' && mark != '`') return 0;
    if (is_alnum(before)) return 0;  // The apostrophe of "receiver's".
    for (auto end = text.find(mark, 1); end != view::npos; end = text.find(mark, end + 1))
        if (ends_word(text, end + 1)) return end + 1;
    return 0;
}

std::size_t unique_id(view text, char before) {
    constexpr std::size_t with_hyphens = 36;
    if (is_alnum(before) || !ends_word(text, with_hyphens)) return 0;
    return uuid::parse(text.substr(0, with_hyphens)) && text.size() >= with_hyphens ? with_hyphens
                                                                                    : 0;
}

std::size_t url(view text, char before) {
    const auto scheme = run_of(text, [](char c) { return is_alnum(c) || c == '+' || c == '-'; });
    if (is_alnum(before) || scheme < 2 || !text.substr(scheme).starts_with("://")) return 0;
    const auto end = text.find_first_of(" \t\r\n'\"`<>|,;()", scheme);
    auto size = std::min(end, text.size());
    while (size > scheme + 3 && (text[size - 1] == '.' || text[size - 1] == ':')) --size;
    return size;
}

std::size_t time_of_day(view text) {  // 12:30, 12:30:05, 12:30:05.123, and a zone behind it.
    if (digits(text) != 2 || at(text, 2) != ':' || digits(text.substr(3)) != 2) return 0;
    std::size_t end = 5;
    if (at(text, end) == ':' && digits(text.substr(end + 1)) == 2) end += 3;
    if ((at(text, end) == '.' || at(text, end) == ',') && is_digit(at(text, end + 1)))
        end += 1 + digits(text.substr(end + 1));
    if (at(text, end) == 'Z') return end + 1;
    if ((at(text, end) == '+' || at(text, end) == '-') && is_digit(at(text, end + 1))) {
        const auto zone =
            run_of(text.substr(end + 1), [](char c) { return is_digit(c) || c == ':'; });
        if (zone == 4 || zone == 5) return end + 1 + zone;
    }
    return end;
}

std::size_t date_or_time(view text, char before) {
    if (is_alnum(before)) return 0;
    std::size_t end = 0;
    if (digits(text) == 4 && at(text, 4) == '-' && digits(text.substr(5)) == 2 &&
        at(text, 7) == '-' && digits(text.substr(8)) == 2) {
        end = 10;
        if (at(text, end) == 'T' || at(text, end) == ' ')
            if (const auto time = time_of_day(text.substr(end + 1)); time > 0) end += 1 + time;
    } else {
        end = time_of_day(text);
    }
    return ends_word(text, end) ? end : 0;
}

std::size_t port_behind(view text, std::size_t end) {
    if (at(text, end) != ':') return end;
    const auto port = digits(text.substr(std::min(end + 1, text.size())));
    return port > 0 && port <= 5 && ends_word(text, end + 1 + port) ? end + 1 + port : end;
}

std::size_t ip4(view text) {
    std::size_t end = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0 && at(text, end++) != '.') return 0;
        const auto size = digits(text.substr(std::min(end, text.size())));
        if (size == 0 || size > 3) return 0;
        end += size;
    }
    if (at(text, end) == '.' && is_digit(at(text, end + 1))) return 0;  // A longer version number.
    return ends_word(text, end) ? port_behind(text, end) : 0;
}

std::size_t ip6(view text) {
    const bool bracketed = text.front() == '[';
    const auto inside = text.substr(bracketed ? 1 : 0);
    const auto size = run_of(inside, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
    const auto found = inside.substr(0, size);
    const bool is_one = std::ranges::count(found, ':') >= 2 &&
                        (found.contains("::") || std::ranges::count(found, ':') == 7);
    if (!is_one) return 0;
    if (bracketed) return at(inside, size) == ']' ? port_behind(text, size + 2) : 0;
    return ends_word(inside, size) && found.size() > 2 ? size : 0;
}

// With a port and a dot, or well known; otherwise `line:12` would be one.
std::size_t host(view text) {
    const auto name = run_of(
        text, [](char c) { return is_alnum(c) || c == '.' || c == '-' || c == '_' || c == '@'; });
    const auto word = text.substr(0, name);
    const auto mark = word.find('@');
    if (mark != view::npos && mark > 0 && mark + 1 < name) return port_behind(text, name);
    if (!word.contains('.') && word != "localhost") return 0;
    const auto end = port_behind(text, name);
    return end > name ? end : 0;
}

std::size_t address(view text, char before) {
    if (is_alnum(before) || before == '.' || before == ':') return 0;
    if (const auto size = ip4(text); size > 0) return size;
    if (const auto size = ip6(text); size > 0) return size;
    return host(text);
}

std::size_t path(view text, char before) {
    if (text.front() != '/' || is_alnum(before) || before == '/' || before == '>') return 0;
    auto size = run_of(text, [](char c) {
        return is_alnum(c) || view("/._-+@%~").contains(c) || static_cast<unsigned char>(c) >= 0x80;
    });
    while (size > 1 && text[size - 1] == '.') --size;
    return size > 1 && at(text, 1) != '/' ? size : 0;
}

std::size_t hexadecimal(view text, char before) {
    if (is_alnum(before)) return 0;
    const bool marked = text.starts_with("0x") || text.starts_with("0X");
    const auto size = run_of(text.substr(marked ? 2 : 0), is_hex) + (marked ? 2 : 0);
    if (!ends_word(text, size)) return 0;
    if (marked) return size > 2 ? size : 0;
    const auto word = text.substr(0, size);
    const bool mixed = std::ranges::any_of(word, is_digit) && std::ranges::any_of(word, is_letter);
    return size >= 8 && mixed ? size : 0;
}

// What no person has named: many characters, letters and several digits among them.
std::size_t made_up_word(view text, char before) {
    constexpr std::size_t size_min = 16;
    if (is_alnum(before)) return 0;
    const auto size = run_of(text, is_alnum);
    const auto word = text.substr(0, size);
    return size >= size_min && std::ranges::count_if(word, is_digit) >= 3 &&
                   std::ranges::any_of(word, is_letter)
               ? size
               : 0;
}

std::size_t number(view text, char before) {
    auto size = digits(text);
    if (size == 0 || is_digit(before)) return 0;
    while ((at(text, size) == '.' || at(text, size) == ',') && is_digit(at(text, size + 1)))
        size += 1 + digits(text.substr(size + 1));
    return size;
}

struct kind {
    std::size_t (*match)(view text, char before);
    view placeholder;
};
constexpr std::array<kind, 9> kinds{{{quoted, "<text>"},
                                     {unique_id, "<id>"},
                                     {url, "<address>"},
                                     {date_or_time, "<time>"},
                                     {address, "<address>"},
                                     {path, "<path>"},
                                     {hexadecimal, "<hex>"},
                                     {made_up_word, "<id>"},
                                     {number, "<n>"}}};

// `status 503`, `HTTP 503`, `answered 503`, and an error that begins with one.
bool is_status(view said, view text) {
    if (digits(text) != 3 || text[0] < '1' || text[0] > '5' || !ends_word(text, 3)) return false;
    if (said.empty()) return true;
    for (const view word : {"status ", "status: ", "HTTP ", "answered ", "with "})
        if (said.ends_with(word)) return true;
    return false;
}

}  // namespace

std::string normalise_cause(view error) {
    constexpr std::size_t bytes_looked_at_max = 4000;  // The rest would be cut anyway.
    error = error.substr(0, bytes_looked_at_max);
    std::string said;
    char before = '\0';
    while (!error.empty() && said.size() < bytes_looked_at_max) {
        std::size_t size = 1;
        const auto found = std::ranges::find_if(kinds, [&](const kind& each) {
            const auto matched = each.match(error, before);
            if (matched > 0) size = matched;
            return matched > 0;
        });
        if (is_status(said, error))
            said.append(error.substr(0, size = 3));
        else if (found != kinds.end())
            said += found->placeholder;
        else if (!is_blank(error.front()))
            said += error.front();
        else if (!said.empty() && !said.ends_with(' '))
            said += ' ';
        before = error[size - 1];
        error.remove_prefix(size);
    }
    while (said.ends_with(' ')) said.pop_back();
    return said.empty() ? "no reason given" : clean_utf8(said, cause_characters_max);
}

}  // namespace posthorn
