#pragma once

#include <cstdint>
#include <string>

#include <posthorn/message.hpp>

namespace posthorn {

/// A message that was given up: its retries are spent, trying again cannot help, or its time is
/// over.
struct dead_letter {
    message body;  // Of a row that was no message, as much as could be read.
    bool expired = false;
    std::string error{};        // Of the last attempt.
    std::int32_t attempts = 0;  // That were charged.
    /// An attempt was made whose outcome is not known for certain, so the receiver may have handled
    /// it. If not, it did not.
    bool may_have_taken_effect = false;
};

}  // namespace posthorn
