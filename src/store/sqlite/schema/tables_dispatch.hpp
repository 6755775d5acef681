#pragma once

#include <string_view>

namespace posthorn::sqlite {

/// The step of the store's tables that came with flows, order keys, dedupe keys, causes and pauses.
extern const std::string_view dispatch_tables;

/// A later step: the triggers and indexes that all messages go through.
extern const std::string_view dispatch_rules;

/// A later step: what is too long for any configuration is refused.
extern const std::string_view dispatch_limits;

/// A later step: what falls due after its expiry falls due at its expiry.
extern const std::string_view dispatch_times;

/// A later step: deliveries to subscribers do not wait for one that was given up.
extern const std::string_view dispatch_passing;

}  // namespace posthorn::sqlite
