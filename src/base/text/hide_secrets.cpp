#include "base/text/hide_secrets.hpp"

#include <algorithm>
#include <array>

namespace posthorn {
namespace {

constexpr std::string_view hidden = "(hidden)";
// What may follow the beginning of a key.
constexpr std::string_view of_keys =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-";

void hide_after(std::string& text, std::string_view beginning) {
    for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
        at += beginning.size();
        const auto end = std::min(text.find_first_not_of(of_keys, at), text.size());
        if (end == at) continue;
        text.replace(at, end - at, hidden);
        at += hidden.size();
    }
}

// A secret that was pasted where the name of its variable belongs.
void hide_variables(std::string& text) {
    constexpr std::string_view beginning = "env:";
    for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
        at += beginning.size();
        const auto end = std::min(text.find_first_of(" \t\n\r\"'`,;:{}()[]<>", at), text.size());
        auto name = std::string_view(text).substr(at, end - at);
        if (name.ends_with('.')) name.remove_suffix(1);  // The end of a sentence.
        // What is written with an ellipsis is an example.
        if (name.find_first_of(of_keys) == name.npos || shown_variable(name) != hidden) continue;
        text.replace(at, name.size(), hidden);
        at += hidden.size();
    }
}

/// Where an address ends that begins before `at`: behind its quotes, or at the next blank.
std::size_t end_of_address(std::string_view text, std::size_t at) {
    const auto scheme = text.substr(0, at).find_last_not_of(of_keys);
    const bool is_quoted = scheme != text.npos && (text[scheme] == '"' || text[scheme] == '\'');
    const auto end = is_quoted ? text.find(text[scheme], at) : text.find_first_of(" '\"\n", at);
    return std::min(end, text.size());
}

// `scheme://user:password@host`. People write passwords as they are, with blanks, '/', '#' and '@'.
void hide_passwords(std::string& text) {
    constexpr std::string_view beginning = "://";
    for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
        const auto end = end_of_address(text, at);
        at += beginning.size();
        const auto host = text.rfind('@', end);
        const auto colon = text.find(':', at);
        if (host == std::string::npos || host < at || colon >= host) continue;
        const auto port = text.substr(colon + 1, text.find_first_of("/?#", colon) - colon - 1);
        if (port.find_first_not_of("0123456789") == port.npos) continue;  // No password at all.
        text.replace(colon + 1, host - colon - 1, hidden);
        at = colon + hidden.size();
    }
}

// `Password=…` among the words of an address, which are apart by spaces or semicolons.
void hide_named_passwords(std::string& text) {
    const auto is_same = [](char one, char other) {
        return (one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one) == other;
    };
    for (const std::string_view name : {"password", "pwd"})
        for (std::size_t from = 0; from < text.size();) {
            const auto rest =
                std::ranges::search(std::string_view(text).substr(from), name, is_same);
            if (rest.empty()) break;
            from = static_cast<std::size_t>(rest.end() - std::string_view(text).begin());
            const auto equals = text.find_first_not_of(' ', from);
            if (equals == std::string::npos || text[equals] != '=') continue;
            const auto value = text.find_first_not_of(' ', equals + 1);
            if (value == std::string::npos) break;
            const bool is_quoted = text[value] == '\'' || text[value] == '"';
            const auto begin = is_quoted ? value + 1 : value;
            const auto end = std::min(
                is_quoted ? text.find(text[value], begin) : text.find_first_of(" ;&\n\"'", begin),
                text.size());
            if (end == begin) continue;
            text.replace(begin, end - begin, hidden);
            from = begin + hidden.size();
        }
}

// To the end: where it ends may not have been written.
void hide_private_keys(std::string& text) {
    const auto at = text.find("PRIVATE KEY-----");
    if (at == std::string::npos) return;
    const auto begin = text.rfind("-----BEGIN", at);
    if (begin != std::string::npos) text.replace(begin, std::string::npos, hidden);
}

}  // namespace

std::string hide_secrets(std::string_view text) {
    std::string shown(text);
    for (const auto* beginning : {"base64:", "phk_", "pht_", "whsec_", "whsk_"})
        hide_after(shown, beginning);
    hide_passwords(shown);
    hide_named_passwords(shown);
    hide_private_keys(shown);
    hide_variables(shown);
    return shown;
}

std::string shown_variable(std::string_view name) {
    constexpr std::size_t one_word_max = 16;
    constexpr std::size_t words_max = 64;
    const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_large = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_other = [](char c) { return (c >= '0' && c <= '9') || c == '_'; };
    const bool is_of_one_case =
        std::ranges::all_of(name, [&](char c) { return is_small(c) || is_other(c); }) ||
        std::ranges::all_of(name, [&](char c) { return is_large(c) || is_other(c); });
    const bool is_short = name.size() <= (name.contains('_') ? words_max : one_word_max);
    return is_of_one_case && is_short ? std::string(name) : std::string(hidden);
}

}  // namespace posthorn
