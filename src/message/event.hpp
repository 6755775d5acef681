#pragma once

#include <string>
#include <string_view>

#include <posthorn/message.hpp>

namespace posthorn {

/// Where published events go, until it is known who is told of them.
inline constexpr std::string_view events_destination = "webhooks";

/// The order key of an event: those of one user and entity go out in the order in which they were
/// committed; of neither, in any. A user's name goes with its length before it, so that no two
/// pairs make the same key. Pure.
[[nodiscard]] std::string event_key(std::string_view user, std::string_view entity);

/// The entity of a key that `event_key` made; of any other, the whole of it. Pure.
[[nodiscard]] std::string entity_of(std::string_view key);

}  // namespace posthorn
