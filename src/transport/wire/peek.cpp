#include "transport/wire/peek.hpp"

#include <algorithm>

#include <posthorn/error.hpp>
#include <posthorn/json_reader.hpp>

namespace posthorn {
namespace {

constexpr std::size_t looked_at_max = 2048;
constexpr std::size_t uuid_size = 36;

std::size_t skip_spaces(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// `00-` 32 digits `-` 16 digits `-` 2 digits; later versions may go on behind it.
bool is_traceparent(std::string_view text) {
    constexpr std::string_view form = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
    if (text.size() != form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i)
        if (form[i] == 'h' ? !is_lower_hex(text[i]) : text[i] != '-') return false;
    return true;
}

}  // namespace

std::optional<uuid> peek_message_id(std::string_view body) noexcept {
    body = body.substr(0, looked_at_max);
    constexpr std::string_view rest_of_name = "essageId\"";
    const auto name = body.find(rest_of_name);
    if (name == std::string_view::npos) return std::nullopt;
    auto at = skip_spaces(body, name + rest_of_name.size());
    if (at == body.size() || body[at] != ':') return std::nullopt;
    at = skip_spaces(body, at + 1);
    if (at == body.size() || body[at] != '"') return std::nullopt;
    return uuid::parse(body.substr(at + 1, uuid_size));
}

std::string traceparent_of(std::string_view headers) {
    constexpr std::string_view name = "traceparent";
    std::string found;
    if (headers.find(name) == std::string_view::npos) return found;  // Most often.
    try {
        json_reader::read(headers, [&](json_reader& whole) {
            whole.members([&](std::string_view key, json_reader& value) {
                if (key == name)
                    found = value.string();
                else
                    value.skip();
            });
        });
    } catch (const error&) {
        return {};  // It is no trace; the message goes all the same.
    }
    return is_traceparent(found) ? found : std::string();
}

}  // namespace posthorn
