#include "engine/rows/call_ids.hpp"

#include <charconv>

#include <fmt/format.h>

#include "security/digest.hpp"

namespace posthorn {
namespace {

constexpr std::size_t uuid_text_size = 36;

template <class Number>
bool read_number(std::string_view& text, Number& into) {
    const auto [stopped, wrong] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (wrong != std::errc{} || into <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
    return true;
}

}  // namespace

std::string to_correlation_id(const call_name& name) {
    return fmt::format("{}{}/{}/{}", call_prefix, name.instance.to_string(), name.run,
                       name.command);
}

std::optional<call_name> parse_correlation_id(std::string_view text) {
    if (!text.starts_with(call_prefix)) return {};
    text.remove_prefix(call_prefix.size());
    if (text.size() <= uuid_text_size || text[uuid_text_size] != '/') return {};
    const auto instance = uuid::parse(text.substr(0, uuid_text_size));
    if (!instance) return {};
    text.remove_prefix(uuid_text_size + 1);
    call_name found{.instance = *instance};
    if (!read_number(text, found.run) || !text.starts_with('/')) return {};
    text.remove_prefix(1);
    if (!read_number(text, found.command) || !text.empty()) return {};
    return found;
}

uuid id_of(const call_name& name) {
    const auto digest = sha256_of({to_correlation_id(name)});
    uuid::bytes_type bytes{};
    for (std::size_t at = 0; at < bytes.size(); ++at)
        bytes[at] = std::to_integer<std::uint8_t>(digest[at]);
    bytes[6] = static_cast<std::uint8_t>(0x80U | (bytes[6] & 0x0fU));  // Version 8: one's own.
    bytes[8] = static_cast<std::uint8_t>(0x80U | (bytes[8] & 0x3fU));
    return uuid(bytes);
}

}  // namespace posthorn
