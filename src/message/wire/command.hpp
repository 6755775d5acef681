#pragma once

#include <string>
#include <string_view>

#include "message/wire/envelope.hpp"

namespace posthorn {

/// What a reader is told of a command besides its text.
struct command_place {
    std::string_view source;    // The service that signed it.
    std::string_view endpoint;  // What it was posted to.
};

/// A message that is posted to its endpoint by a peer that knows no envelope: an object with a
/// `commandId` (or `callId`), a UUID, and either a `payload` or fields that are the payload
/// themselves, the whole object then. One with a `messageId` is an envelope, whose endpoint must be
/// the one it was posted to. Names in camelCase or PascalCase. Fails as `read_envelope` does.
[[nodiscard]] result<message> read_command(std::string_view json, const command_place& place,
                                           const envelope_rules& rules);

}  // namespace posthorn
