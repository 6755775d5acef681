#pragma once

#include <cstdint>

#include <posthorn/uuid.hpp>

namespace posthorn {

/// The delivery of an event to a subscription: the same two give the same id, so an event that is
/// fanned out again after a crash makes nothing twice. Pure.
[[nodiscard]] uuid child_id(const uuid& event, const uuid& subscription);

/// One attempt of a delivery, from 1. Its bytes are hashed in the order in which its text is
/// written. Pure.
[[nodiscard]] uuid delivery_id(const uuid& event, const uuid& subscription, std::int32_t attempt);

}  // namespace posthorn
