#include "inbox/configured/redact.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace posthorn {
namespace {

constexpr std::string_view in_its_place = "…";
constexpr std::size_t redacted_size_min = 3;

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool is_in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

/// The longest first, so that a value which holds another goes whole.
std::vector<std::string> texts_of(std::span<const sql_param> given) {
    std::vector<std::string> texts;
    for (const auto& one : given) {
        std::string text;
        if (const auto* const value = std::get_if<std::string_view>(&one)) text = *value;
        if (const auto* const value = std::get_if<std::int64_t>(&one))
            text = fmt::format("{}", *value);
        if (const auto* const value = std::get_if<double>(&one)) text = fmt::format("{}", *value);
        if (text.size() >= redacted_size_min) texts.push_back(std::move(text));
    }
    std::ranges::sort(texts, std::ranges::greater{}, &std::string::size);
    return texts;
}

void replace_values(std::string& text, const std::vector<std::string>& values) {
    for (const auto& value : values)
        for (auto at = text.find(value); at != std::string::npos;
             at = text.find(value, at + in_its_place.size()))
            text.replace(at, value.size(), in_its_place);
}

/// From the first quote to the last, since a value may hold quotes too.
void replace_quoted(std::string& text, std::string_view quotes, std::string_view statement) {
    const auto first = text.find(quotes.front());
    const auto last = text.rfind(quotes.back());
    if (first == std::string::npos || last <= first + 1) return;
    const auto inside = std::string_view(text).substr(first + 1, last - first - 1);
    if (!holds(statement, inside)) text.replace(first + 1, inside.size(), in_its_place);
}

std::string replace_words(std::string_view text, const std::vector<std::string>& values,
                          std::string_view statement) {
    std::string out;
    while (!text.empty()) {
        const auto size =
            static_cast<std::size_t>(std::ranges::find_if_not(text, is_in_word) - text.begin());
        const auto word = text.substr(0, std::max<std::size_t>(size, 1));
        const bool is_quoted =
            size >= redacted_size_min && word != in_its_place && !holds(statement, word) &&
            std::ranges::any_of(values, [&](const auto& value) { return holds(value, word); });
        out += is_quoted ? in_its_place : word;
        text.remove_prefix(word.size());
    }
    return out;
}

}  // namespace

std::string redact(std::string_view text, std::span<const sql_param> given,
                   std::string_view statement) {
    const auto values = texts_of(given);
    if (values.empty()) return std::string(text);
    std::string out(text);
    replace_values(out, values);
    for (const auto* const quotes : {"''", "\"\"", "[]"}) replace_quoted(out, quotes, statement);
    return replace_words(out, values, statement);
}

}  // namespace posthorn
