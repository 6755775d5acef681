#pragma once

#include <optional>
#include <string_view>

#include <posthorn/uuid.hpp>

namespace posthorn {

/// The first id that a body which is not verified seems to give, for the log alone. Looks at the
/// first bytes only and parses nothing but the id.
[[nodiscard]] std::optional<uuid> peek_message_id(std::string_view body) noexcept;

}  // namespace posthorn
