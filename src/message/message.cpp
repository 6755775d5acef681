#include <array>
#include <utility>

#include <posthorn/message.hpp>

namespace posthorn {
namespace {

constexpr std::array<std::pair<message_type, std::string_view>, 4> type_names{{
    {message_type::signal, "Signal"},
    {message_type::command, "Command"},
    {message_type::push_call, "PushCall"},
    {message_type::response, "Response"},
}};

}  // namespace

std::string_view to_string(message_type type) noexcept {
    return type_names[static_cast<std::size_t>(type)].second;
}

std::optional<message_type> parse_message_type(std::string_view text) noexcept {
    for (const auto& [type, name] : type_names)
        if (name == text) return type;
    return std::nullopt;
}

}  // namespace posthorn
