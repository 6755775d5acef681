#include "base/trace/span_context.hpp"

#include <algorithm>
#include <ranges>

namespace posthorn {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

void write(std::uint64_t number, char* to, std::size_t size) noexcept {
    for (auto i = size; i-- > 0; number >>= 4U) to[i] = digits[number & 0xFU];
}

/// Digits in lower case only, as the standard has it.
std::optional<std::uint64_t> read(std::string_view text) noexcept {
    std::uint64_t number = 0;
    for (const char each : text) {
        const auto value = digits.find(each);
        if (value == std::string_view::npos) return std::nullopt;
        number = number << 4U | value;
    }
    return number;
}

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_key(std::string_view key) noexcept {
    constexpr std::size_t size_max = 256;
    if (key.empty() || key.size() > size_max) return false;
    if (!is_lower(key.front()) && !is_digit(key.front())) return false;
    return std::ranges::all_of(key, [](char c) {
        return is_lower(c) || is_digit(c) || std::string_view("_-*/@").contains(c);
    });
}

bool is_value(std::string_view value) noexcept {
    constexpr std::size_t size_max = 256;
    if (value.empty() || value.size() > size_max || value.back() == ' ') return false;
    return std::ranges::all_of(value,
                               [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view without_blanks(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

void write_hex(span_id id, char* to) noexcept { write(id.value, to, 16); }

std::string to_hex(span_id id) {
    std::string text(16, '0');
    write_hex(id, text.data());
    return text;
}

std::string to_hex(const trace_id& id) {
    std::string text(32, '0');
    write(id.high, text.data(), 16);
    write(id.low, text.data() + 16, 16);
    return text;
}

std::optional<span_context> parse_traceparent(std::string_view text) noexcept {
    if (text.size() < traceparent_size) return std::nullopt;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
    const auto version = text.substr(0, 2);
    if (!read(version) || version == "ff") return std::nullopt;
    const bool is_longer = text.size() > traceparent_size;
    if (is_longer && (version == "00" || text[traceparent_size] != '-')) return std::nullopt;
    const auto high = read(text.substr(3, 16));
    const auto low = read(text.substr(19, 16));
    const auto span = read(text.substr(span_in_traceparent, 16));
    const auto flags = read(text.substr(53, 2));
    if (!high || !low || !span || !flags) return std::nullopt;
    const span_context found{
        .trace = {*high, *low}, .span = {*span}, .flags = static_cast<std::uint8_t>(*flags)};
    if (!found.trace || !found.span) return std::nullopt;
    return found;
}

std::string to_traceparent(const span_context& what) {
    std::string text = "00-00000000000000000000000000000000-0000000000000000-00";
    write(what.trace.high, text.data() + 3, 16);
    write(what.trace.low, text.data() + 19, 16);
    write_hex(what.span, text.data() + span_in_traceparent);
    write(what.flags, text.data() + 53, 2);
    return text;
}

std::optional<trace_state> parse_tracestate(std::string_view text) {
    constexpr std::size_t size_max = 512;
    constexpr std::size_t members_max = 32;
    if (text.size() > size_max) return std::nullopt;
    trace_state members;
    for (const auto part : std::views::split(text, ',')) {
        const auto member = without_blanks(std::string_view(part));
        if (member.empty()) continue;
        const auto sign = member.find('=');
        if (sign == std::string_view::npos) return std::nullopt;
        const auto key = member.substr(0, sign);
        const auto value = member.substr(sign + 1);
        if (!is_key(key) || !is_value(value) || members.size() == members_max) return std::nullopt;
        const bool is_repeated =
            std::ranges::any_of(members, [key](const auto& known) { return known.first == key; });
        if (is_repeated) return std::nullopt;
        members.emplace_back(key, value);
    }
    return members;
}

std::string to_tracestate(const trace_state& members) {
    std::string text;
    for (const auto& [key, value] : members) {
        if (!text.empty()) text += ',';
        text += key;
        text += '=';
        text += value;
    }
    return text;
}

}  // namespace posthorn
