#include "transport/wire/peek.hpp"

#include <algorithm>

namespace posthorn {
namespace {

constexpr std::size_t looked_at_max = 2048;
constexpr std::size_t uuid_size = 36;

std::size_t skip_spaces(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
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

}  // namespace posthorn
