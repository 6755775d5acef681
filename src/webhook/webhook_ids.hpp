#pragma once

#include <cstdint>
#include <string_view>

#include <posthorn/uuid.hpp>

namespace posthorn {

/// The delivery of an event to a subscription: the same two give the same id, so an event that is
/// fanned out again after a crash makes nothing twice. Pure.
[[nodiscard]] uuid child_id(const uuid& event, const uuid& subscription);

/// One attempt of a delivery, from 1. Its bytes are hashed in the order in which its text is
/// written. Pure.
[[nodiscard]] uuid delivery_id(const uuid& event, const uuid& subscription, std::int32_t attempt);

/// A subscription that the configuration names: of the MD5 of `url|tenant`, as UUIDs of version 3
/// are made. Pure.
[[nodiscard]] uuid configured_id(std::string_view url, std::string_view tenant);

}  // namespace posthorn
